package normal

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// readDecision makes a policy decision of an entry of OPA's decision log.
func (n *normalizer) readDecision(v kind.Values) {
	id := plain(v.Text("decision_id"))
	if id == "" {
		n.refuse("/data/decision_id", "required", "is required")
		return
	}
	result, decision := v["result"], ""
	if decision = decided(result); decision == "" {
		n.warn("the result of the policy is neither allow nor deny")
		return
	}
	b := n.body(kind.PolicyDecisions)
	b.key(kind.FieldIdempotencyKey, "opa:"+id)
	b.time(kind.FieldOccurredAt, v.Time("timestamp"))
	b.choice(kind.FieldDecision, decision)
	b.text(kind.FieldEngine, "opa")
	input := either(v, "input")
	if input == nil {
		input = jsontext.Value("null")
	}
	b.any(kind.FieldInput, input)
	b.values[kind.FieldInputDigest] = kind.TextValue(kind.DigestOf(input))
	if either(v, "erased", "masked") != nil {
		n.warn("parts of the input were erased or masked before it was logged; the digest is that of what was logged")
	}
	b.any(kind.FieldReasons, b.reasons(v, object(result)))
	metrics := v.Within("metrics")
	if ns := cmp.Or(metrics.Integer("timer_server_handler_ns"), metrics.Integer("timer_rego_query_eval_ns")); ns > 0 {
		b.any(kind.FieldDurationUs, kind.IntegerValue(ns/1000))
	}
	trace, hasTrace := span.ParseTraceID(v.Text("trace_id"))
	at, hasSpan := span.ParseID(v.Text("span_id"))
	switch {
	case hasTrace && hasSpan:
		b.within(trace.String(), at.String())
	case hasTrace:
		b.within(trace.String(), "")
	default:
		b.within(n.trace, n.span)
	}
	b.attributes(map[string]jsontext.Value{
		"decision_id": optional(id), "path": v["path"], "query": v["query"], "result": result, "bundles": v["bundles"], "revision": v["revision"],
		"labels": v["labels"], "erased": v["erased"], "masked": v["masked"], "requested_by": v["requested_by"],
	})
	b.report(false)
}

// decided is what a policy decided; empty if it answered something else. OPA has no form
// for decisions: a policy returns true or false, or an object that says allow or
// decision.
func decided(result jsontext.Value) string {
	switch result.Kind() {
	case 't', 'f':
		return named(result)
	case '{':
	default:
		return ""
	}
	v := object(result)
	allow, decision := named(v["allow"]), named(v["decision"])
	if allow != "" && decision != "" && allow != decision {
		return "" // which of the two is meant, only the policy's author knows
	}
	return cmp.Or(allow, decision)
}

// named is a decision that is true or false, or a word.
func named(v jsontext.Value) string {
	switch v.Kind() {
	case 't':
		return "allow"
	case 'f':
		return "deny"
	}
	switch strings.ToLower(words(v)) {
	case "allow", "allowed", "permit":
		return "allow"
	case "deny", "denied", "forbid":
		return "deny"
	case "require_approval":
		return "require_approval"
	}
	return ""
}

// reasons are the policy that decided, and what it says about why.
func (b *body) reasons(v, result kind.Values) jsontext.Value {
	version := either(v, "revision")
	if bundles := v.Within("bundles"); version == nil && len(bundles) == 1 {
		for _, bundle := range bundles {
			version = either(object(bundle), "revision")
		}
	}
	said := []string{words(result["reason"])}
	for _, name := range []string{"reasons", "deny", "violations"} {
		for _, one := range kind.Elements(result[name]) {
			said = append(said, cmp.Or(words(one), words(either(object(one), "message", "msg"))))
		}
	}
	path := b.fit("reasons.policy_key", &kind.Field{Max: 256}, v.Text("path"))
	var out []jsontext.Value
	for i, text := range said[:min(len(said), 1000)] {
		text = b.fit("reasons.message", nil, text)
		if text == "" && (i > 0 || len(said) > 1 || path == "") {
			continue
		}
		out = append(out, encodeSome(map[string]jsontext.Value{
			kind.FieldPolicyKey: optional(path), kind.FieldPolicyVersion: version, kind.FieldMessage: optional(text),
		}))
	}
	if out == nil {
		return nil
	}
	return encode(out)
}
