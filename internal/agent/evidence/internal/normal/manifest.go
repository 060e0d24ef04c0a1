package normal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// mcpConnector begins what is known about the server that a message comes from.
func (n *normalizer) mcpConnector() *body {
	if plain(n.event.Source) == "" {
		n.refuse("/source", "required", "is required")
		return nil
	}
	b := n.body(kind.Connectors)
	b.key(kind.FieldConnectorKey, n.event.Source)
	b.choice(kind.FieldType, "mcp_server")
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
	for _, v := range kind.Elements(result["supportedVersions"]) {
		versions = append(versions, words(v))
	}
	slices.Sort(versions) // revisions are dates
	newest := ""
	if len(versions) > 0 {
		newest = versions[len(versions)-1]
	}
	b.text(kind.FieldProtocolVersion, cmp.Or(result.Text("protocolVersion"), newest))
	b.report(false)
}

// server puts the name and the version of a server.
func (b *body) server(result kind.Values) {
	info := result.Within("serverInfo")
	if info == nil {
		info = result.Within("_meta").Within(mcpServer)
	}
	b.text(kind.FieldName, info.Text("name"))
	b.text(kind.FieldServerVersion, info.Text("version"))
}

// MaxTools is how many tools a connector can list.
const MaxTools = 1_000

// pages is the attribute of a connector whose server lists its tools in pages.
const pages = "manifest_pages"

// Paged reports whether values of a connector are of a server that lists its tools in
// pages. The tools that such values have are some of those that the server has: they add
// to those that are known.
//
// The last page of a list looks like a whole list, unless the event has its request too. A
// connector that was seen to have pages therefore keeps the attribute, and no list of it
// is its manifest.
func Paged(connector kind.Values) bool {
	return connector.Attributes()[pages].Kind() == 't'
}

// mcpManifest reads the tools of a server. The digest covers everything that it says about
// them, in an order of its own, so that it changes exactly if a tool does. A page has no
// digest: what it lacks the server may still have.
func (n *normalizer) mcpManifest(v, result kind.Values) {
	b := n.mcpConnector()
	if b == nil {
		return
	}
	b.server(result)
	tools := sortedBy("name", kind.Elements(result["tools"]))
	if result.Text("nextCursor") != "" || len(n.exchange.pages) > 0 && n.exchange.pages[n.mcpKey(v, result)] {
		n.warn("the list of tools has pages: its tools are added to those that are known, and changes of the manifest are not noticed")
		b.attributes(map[string]jsontext.Value{pages: kind.BooleanValue(true)})
	} else {
		b.values[kind.FieldManifestDigest] = kind.TextValue(kind.DigestOf(encode(tools)))
	}
	if len(tools) > MaxTools {
		n.leaveOut("tools is left out: the server has more than 1000")
	} else {
		b.tools(tools)
	}
	b.report(false)
}

// sortedBy are objects in the order of one of their members.
func sortedBy(member string, all []jsontext.Value) []jsontext.Value {
	type named struct {
		name  string
		value jsontext.Value
	}
	list := make([]named, len(all))
	for i, v := range all {
		list[i] = named{object(v).Text(member), v}
	}
	slices.SortStableFunc(list, func(x, y named) int { return strings.Compare(x.name, y.name) })
	out := make([]jsontext.Value, len(all))
	for i := range list {
		out[i] = list[i].value
	}
	return out
}

// tools puts the tools that have a name.
func (b *body) tools(tools []jsontext.Value) {
	out := make([]jsontext.Value, 0, len(tools))
	for _, raw := range tools {
		tool := object(raw)
		name := b.fit("tools.name", &kind.Field{Max: 256}, tool.Text("name"))
		if name == "" {
			b.n.leaveOut("a tool without a name is left out")
			continue
		}
		said := hintsOf(tool.Within("annotations"))
		entry := map[string]jsontext.Value{
			kind.FieldName: kind.TextValue(name), kind.FieldSideEffectClass: kind.TextValue(said.class(false)),
			kind.FieldOpenWorld: kind.BooleanValue(is(said.openWorld, true)), kind.FieldIdempotent: kind.BooleanValue(is(said.idempotent, false)),
			kind.FieldAnnotations: said.value(),
		}
		if schema := either(tool, "inputSchema"); schema != nil {
			entry[kind.FieldInputSchemaDigest] = kind.TextValue(kind.DigestOf(schema))
		}
		out = append(out, encodeSome(entry))
	}
	b.any(kind.FieldTools, encode(out))
}
