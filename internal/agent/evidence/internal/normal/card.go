package normal

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// isCard reports whether an object is the card of an agent.
func isCard(v kind.Values) bool {
	return v.Text("name") != "" && v["skills"].Kind() == '[' && either(v, "supportedInterfaces", "supported_interfaces", "url", "capabilities") != nil
}

// agentCard makes a connector of an agent that others can call. Its skills are its tools;
// what they do to the world the card does not say.
func (n *normalizer) agentCard(v kind.Values) {
	if plain(n.event.Source) == "" {
		n.refuse("/source", "required", "is required")
		return
	}
	b := n.body(kind.Connectors)
	b.key(kind.FieldConnectorKey, n.event.Source)
	b.choice(kind.FieldType, "a2a_agent")
	b.text(kind.FieldName, v.Text("name"))
	b.text(kind.FieldServerVersion, v.Text("version"))
	first := kind.Values{}
	if interfaces := kind.Elements(either(v, "supportedInterfaces", "supported_interfaces")); len(interfaces) > 0 {
		first = object(interfaces[0])
	}
	b.text(kind.FieldEndpoint, cmp.Or(first.Text("url"), v.Text("url")))
	version := func(v kind.Values) string { return words(either(v, "protocolVersion", "protocol_version")) }
	b.text(kind.FieldProtocolVersion, cmp.Or(version(first), version(v)))
	b.values[kind.FieldManifestDigest] = kind.TextValue(kind.DigestOf(unsigned(v)))
	b.skills(kind.Elements(v["skills"]))
	b.auth(v)
	b.attributes(map[string]jsontext.Value{"description": v["description"], "capabilities": v["capabilities"], "provider": v["provider"]})
	b.report(false)
}

// unsigned is a card without its signatures, which differ each time it is signed, and
// with its skills in an order of their own.
func unsigned(v kind.Values) jsontext.Value {
	out := kind.Values{}
	for name, member := range v {
		if name != "signatures" {
			out[name] = member
		}
	}
	out["skills"] = encode(sortedBy("id", kind.Elements(v["skills"])))
	return encode(out)
}

// skills puts what an agent can do.
func (b *body) skills(skills []jsontext.Value) {
	if len(skills) > MaxTools {
		b.n.leaveOut("tools is left out: the agent has more than 1000")
		return
	}
	out := make([]jsontext.Value, 0, len(skills))
	for _, raw := range skills {
		skill := object(raw)
		name := b.fit("tools.name", &kind.Field{Max: 256}, cmp.Or(skill.Text("id"), skill.Text("name")))
		if name == "" {
			b.n.leaveOut("a skill without an id is left out")
			continue
		}
		out = append(out, encode(map[string]string{kind.FieldName: name, kind.FieldSideEffectClass: "unknown"}))
	}
	b.any(kind.FieldTools, encode(out))
}

// auth puts how callers authenticate, if the card says it.
func (b *body) auth(v kind.Values) {
	schemes := object(either(v, "securitySchemes", "security_schemes"))
	if len(schemes) == 0 {
		return
	}
	b.texts(kind.FieldAuth, map[string]string{kind.FieldType: strings.Join(sorted(schemes), ", ")})
}
