package normal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
)

// Hints are what an MCP server says about a tool; nil is a hint that it does not give.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld *bool }

// SideEffect is the class of what a tool does to the world, as its server's hints have
// it. A missing hint has the protocol's default: not read-only, destructive. A server that
// was not reviewed cannot make a tool harmless by calling it read-only.
func (h Hints) SideEffect(reviewed bool) string {
	is := func(hint *bool, otherwise bool) bool { return hint != nil && *hint || hint == nil && otherwise }
	switch {
	case reviewed && is(h.ReadOnly, false):
		return "read"
	case is(h.Destructive, true):
		return "delete"
	default:
		return "create"
	}
}

// hintsOf reads the annotations of a tool.
func hintsOf(v kind.Values) Hints {
	hint := func(name string) *bool {
		switch v[name].Kind() {
		case 't', 'f':
			yes := v[name].Kind() == 't'
			return &yes
		}
		return nil
	}
	return Hints{ReadOnly: hint("readOnlyHint"), Destructive: hint("destructiveHint"), Idempotent: hint("idempotentHint"), OpenWorld: hint("openWorldHint")}
}

// mcpConnector begins what is known about the server that a message comes from.
func (n *normalizer) mcpConnector() *body {
	if plain(n.event.Source) == "" {
		n.refuse("/source", "required", "is required")
		return nil
	}
	b := n.body("connectors")
	b.key("connector_key", n.event.Source)
	b.choice("type", "mcp_server")
	return b
}

// mcpServerInfo reads what a server says about itself when a client connects, or when
// it is asked to be discovered.
func (n *normalizer) mcpServerInfo(result kind.Values) {
	b := n.mcpConnector()
	if b == nil {
		return
	}
	b.server(result)
	var versions []string
	for _, v := range list(result["supportedVersions"]) {
		versions = append(versions, words(v))
	}
	slices.Sort(versions) // revisions are dates
	newest := ""
	if len(versions) > 0 {
		newest = versions[len(versions)-1]
	}
	b.text("protocol_version", cmp.Or(result.Text("protocolVersion"), newest))
	b.report(false)
}

// server puts the name and the version of a server.
func (b *body) server(result kind.Values) {
	info := result.Within("serverInfo")
	if info == nil {
		info = result.Within("_meta").Within(mcpServer)
	}
	b.text("name", info.Text("name"))
	b.text("server_version", info.Text("version"))
}

// maxTools is how many tools a connector can list.
const maxTools = 1_000

// mcpManifest reads the tools of a server. The digest covers everything that it says about
// them, in an order of its own, so that it changes exactly if a tool does.
func (n *normalizer) mcpManifest(result kind.Values) {
	b := n.mcpConnector()
	if b == nil {
		return
	}
	b.server(result)
	tools := list(result["tools"])
	slices.SortStableFunc(tools, func(x, y jsontext.Value) int { return strings.Compare(object(x).Text("name"), object(y).Text("name")) })
	switch {
	case either(result, "nextCursor") != nil:
		n.warn("the list of tools has more pages: it is not taken for the manifest")
	case len(tools) > maxTools:
		n.warn("tools is left out: the server has more than 1000")
		b.values["manifest_digest"] = kind.TextValue(kind.DigestOf(encode(tools)))
	default:
		b.values["manifest_digest"] = kind.TextValue(kind.DigestOf(encode(tools)))
		b.tools(tools)
	}
	b.report(false)
}

// tools puts the tools that have a name.
func (b *body) tools(tools []jsontext.Value) {
	out := make([]jsontext.Value, 0, len(tools))
	for _, raw := range tools {
		tool := object(raw)
		name := b.fit("tools.name", &kind.Field{Max: 256}, tool.Text("name"))
		if name == "" {
			b.n.warn("a tool without a name is left out")
			continue
		}
		said := hintsOf(tool.Within("annotations"))
		entry := map[string]jsontext.Value{
			"name": kind.TextValue(name), "side_effect_class": kind.TextValue(said.SideEffect(false)),
			"open_world": yes(said.OpenWorld, "true"), "idempotent": yes(said.Idempotent, "false"),
			"annotations": said.value(),
		}
		if schema := either(tool, "inputSchema"); schema != nil {
			entry["input_schema_digest"] = kind.TextValue(kind.DigestOf(schema))
		}
		out = append(out, encodeSome(entry))
	}
	b.any("tools", encode(out))
}

// value is the hints that are given; nothing if there are none.
func (h Hints) value() jsontext.Value {
	out := encodeSome(map[string]jsontext.Value{
		"read_only": yes(h.ReadOnly, ""), "destructive": yes(h.Destructive, ""), "idempotent": yes(h.Idempotent, ""), "open_world": yes(h.OpenWorld, ""),
	})
	if string(out) == "{}" {
		return nil
	}
	return out
}

// yes is a hint as a value.
func yes(hint *bool, otherwise string) jsontext.Value {
	switch {
	case hint == nil:
		return jsontext.Value(otherwise)
	case *hint:
		return jsontext.Value("true")
	default:
		return jsontext.Value("false")
	}
}
