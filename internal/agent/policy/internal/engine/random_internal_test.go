package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// random writes policies and questions about them. What it writes is always valid text;
// about one expression in ten has the wrong type, so that its evaluation fails.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }

func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

func (r random) chance(percent int) bool { return r.IntN(100) < percent }

// kinds of expressions.
const (
	boolean = iota
	long
	text
	decimal
	address
	set
	record
	entity
	datetime
	duration
	kinds
)

// What questions can have, so that policies often speak about it.
var (
	keys     = []string{"payments", "crm", "mail", ""}
	tools    = []string{"refund", "lookup", "send", "a*b"}
	runtimes = []string{"agent-1", "agent-2"}
	classes  = []string{"none", "read", "transact", "unknown"}
	stages   = []string{"production", "staging"}
	words    = []string{"", "a", "ab", "payments", "refund", "x*y", "é", `q\"t`, "EUR", "production"}
	numbers  = []string{"0", "1", "2", "3", "7", "(-1)", "9223372036854775807", "(-9223372036854775808)", "100"}
	amounts  = []string{"0.0", "1.0", "100.0", "100.5", "-3.1415", "922337203685477.5807"}
	ips      = []string{"10.0.0.1", "10.0.0.0/8", "127.0.0.1", "::1", "ff00::/8", "192.168.1.1"}
	days     = []string{"2026-11-17", "1970-01-01", "2026-11-17T10:00:00Z", "2000-02-29T23:59:59.999Z", "2026-01-01T00:00:00+0130"}
	spans    = []string{"1d", "2h30m", "-1h", "0ms", "1d2h3m4s5ms"}
	names    = []string{"a", "b", "n", "list", "rec", "flag", "amount", "deep", "no"}
)

func (r random) uid() string {
	return r.one(`Runtime::"agent-1"`, `Runtime::"agent-2"`, `Tool::"payments/refund"`, `Tool::"crm/lookup"`, `Action::"tool.call"`, `Action::"read"`, `Team::"red"`, `Team::"blue"`, `App::User::"7"`)
}

func (r random) kind() string { return r.one("Runtime", "Tool", "Team", "App::User", "Action") }

// expr is an expression of a kind, most of the time.
func (r random) expr(kind, depth int) string {
	if r.chance(4) {
		kind = r.IntN(kinds)
	}
	if depth > 0 && r.chance(8) {
		return fmt.Sprintf("(if %s then %s else %s)", r.expr(boolean, depth-1), r.expr(kind, depth-1), r.expr(kind, depth-1))
	}
	if depth == 0 || r.chance(25) {
		return r.leaf(kind)
	}
	sub := func(kind int) string { return r.expr(kind, depth-1) }
	switch kind {
	case boolean:
		return r.test(sub)
	case long:
		return r.one(
			fmt.Sprintf("(%s %s %s)", sub(long), r.one("+", "-", "*"), sub(long)),
			fmt.Sprintf("-(%s)", sub(long)),
			fmt.Sprintf("%s.%s()", sub(duration), r.one("toMilliseconds", "toSeconds", "toMinutes", "toHours", "toDays")),
		)
	case set:
		return "[" + strings.Join([]string{sub(r.IntN(kinds)), sub(text), sub(text)}[:1+r.IntN(3)], ", ") + "]"
	case record:
		return fmt.Sprintf(`{%s: %s, "k k": %s}`, r.one(names...), sub(r.IntN(kinds)), sub(long))
	case datetime:
		return r.one(fmt.Sprintf("%s.offset(%s)", sub(datetime), sub(duration)), sub(datetime)+".toDate()")
	case duration:
		return r.one(fmt.Sprintf("%s.durationSince(%s)", sub(datetime), sub(datetime)), sub(datetime)+".toTime()")
	default:
		return r.leaf(kind)
	}
}

// test is an expression that is true or false.
func (r random) test(sub func(int) string) string {
	same := r.IntN(kinds)
	return r.one(
		fmt.Sprintf("(%s && %s)", sub(boolean), sub(boolean)),
		fmt.Sprintf("(%s || %s)", sub(boolean), sub(boolean)),
		fmt.Sprintf("!(%s)", sub(boolean)),
		fmt.Sprintf("(%s %s %s)", sub(same), r.one("==", "!="), sub(same)),
		fmt.Sprintf("(%s %s %s)", sub(long), r.one("<", "<=", ">", ">="), sub(long)),
		fmt.Sprintf("(%s %s %s)", sub(datetime), r.one("<", "<=", ">", ">="), sub(datetime)),
		fmt.Sprintf("%s.%s(%s)", sub(decimal), r.one("lessThan", "lessThanOrEqual", "greaterThan", "greaterThanOrEqual"), sub(decimal)),
		fmt.Sprintf("(%s like %s)", sub(text), r.one(`"*"`, `"pay*"`, `"*und"`, `"a*b"`, `"a\*b"`, `"*a*"`, `""`, `"é*"`, `"**x"`)),
		fmt.Sprintf("%s.contains(%s)", sub(set), sub(same)),
		fmt.Sprintf("%s.%s(%s)", sub(set), r.one("containsAll", "containsAny"), sub(set)),
		sub(set)+".isEmpty()",
		fmt.Sprintf("(%s in %s)", sub(entity), sub(entity)),
		fmt.Sprintf("(%s in [%s, %s])", sub(entity), sub(entity), sub(entity)),
		fmt.Sprintf("(%s is %s)", sub(entity), r.kind()),
		fmt.Sprintf("(%s is %s in %s)", sub(entity), r.kind(), sub(entity)),
		fmt.Sprintf("(%s has %s)", r.one("context", "context.arguments", "principal", "resource", sub(record)), r.one("amount", "a", "n", "rec.deep.x", `"k k"`)),
		fmt.Sprintf("%s.%s()", sub(address), r.one("isIpv4", "isIpv6", "isLoopback", "isMulticast")),
		fmt.Sprintf("%s.isInRange(%s)", sub(address), sub(address)),
		fmt.Sprintf("%s.hasTag(%s)", sub(entity), sub(text)),
	)
}

// leaf is a literal, or something of the question.
func (r random) leaf(kind int) string {
	if r.chance(12) {
		return r.one("context.arguments.", "principal.", "resource.", "context.") + r.one(names...)
	}
	switch kind {
	case boolean:
		return r.one("true", "false", "true", "context.arguments.flag", "context.flag")
	case long:
		return r.one(append(numbers, "context.arguments.n", "context.n", "principal.n")...)
	case text:
		return r.one(`"`+r.one(words...)+`"`, "context.connector_key", "context.tool_name", "context.runtime_key", "context.environment",
			"context.side_effect_class", "context.arguments.a", "context.currency", `context["arguments"]["a"]`)
	case decimal:
		return r.one(`decimal("`+r.one(append(amounts, "1", "1.23456", "x")...)+`")`, "context.amount", "context.arguments.amount")
	case address:
		return `ip("` + r.one(append(ips, "300.1.1.1", "x")...) + `")`
	case set:
		return r.one("context.arguments.list", "[]", `["refund", "lookup"]`, "[1, 2, 3]", "[true, 1, \"a\"]", `[Team::"red"]`)
	case record:
		return r.one("context", "context.arguments", "context.arguments.rec", "{}", `{"a": 1}`)
	case entity:
		return r.one("principal", "action", "resource", r.uid())
	case datetime:
		return `datetime("` + r.one(append(days, "2026-13-01", "now")...) + `")`
	default:
		return `duration("` + r.one(append(spans, "1x", "")...) + `")`
	}
}

// indexable is a comparison that the index knows, or nearly.
func (r random) indexable() string {
	return r.one(
		`context.connector_key == "`+r.one(keys...)+`"`,
		`"`+r.one(tools...)+`" == context.tool_name`,
		`["`+r.one(tools...)+`", "`+r.one(tools...)+`"].contains(context.tool_name)`,
		`[].contains(context.tool_name)`,
		`context.runtime_key == "`+r.one(runtimes...)+`"`,
		`context.environment == "`+r.one(stages...)+`"`,
		`context.side_effect_class == "`+r.one(classes...)+`"`,
		`context.connector_key == 1`,
		`context.tool_name == context.connector_key`,
		`context.arguments == "refund"`,
		`context.missing == "x"`,
	)
}

func (r random) scope(of string) string {
	if r.chance(70) {
		return of
	}
	return r.one(of+" == "+r.uid(), of+" in "+r.uid(), of+" is "+r.kind(), of+" is "+r.kind()+" in "+r.uid())
}

func (r random) act() string {
	uid := func() string { return r.one(`Action::"tool.call"`, `Action::"read"`, `App::Action::"x"`) }
	if r.chance(60) {
		return "action"
	}
	return r.one(`action == Action::"tool.call"`, "action == "+uid(), "action in "+uid(), "action in ["+uid()+", "+uid()+"]", "action in []")
}

// statement is a permit or a forbid.
func (r random) statement(annotations string) string {
	resource := r.scope("resource")
	if r.chance(10) {
		resource = `resource == Tool::"` + r.one(keys...) + "/" + r.one(tools...) + `"`
	}
	var out strings.Builder
	out.WriteString(annotations + r.one("permit", "forbid") + " (" + r.scope("principal") + ", " + r.act() + ", " + resource + ")")
	for range r.IntN(3) {
		var parts []string
		for range r.IntN(4) * r.IntN(2) {
			parts = append(parts, r.indexable())
		}
		if len(parts) == 0 || r.chance(60) {
			parts = append(parts, r.expr(boolean, 3))
		}
		if r.chance(15) {
			r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		}
		out.WriteString("\n" + r.one("when", "when", "unless") + " { " + strings.Join(parts, " && ") + " }")
	}
	return out.String() + ";\n"
}

// policy is a text of a few statements.
func (r random) policy() string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(r.statement(""))
	}
	return b.String()
}

func (r random) appliesTo() AppliesTo {
	var a AppliesTo
	pick := func(of []string) []string {
		if r.chance(70) {
			return nil
		}
		return of[:1+r.IntN(len(of))]
	}
	a.RuntimeKeys, a.ConnectorKeys, a.Environments = pick(runtimes), pick(keys), pick(stages)
	return a
}

// question is a question, with arguments that policies often read.
func (r random) question() Question {
	q := Question{
		RuntimeKey: r.one(runtimes...), ConnectorKey: r.one(keys...), ToolName: r.one(tools...), Environment: r.one(stages...),
		SideEffectClass: r.one(classes...), Reversibility: "unknown", ConnectorState: r.one("approved", "registered"), ConnectorTrust: r.one("verified", "untrusted"),
		Arguments: jsontext.Value(r.object()), Context: jsontext.Value(r.object()),
		Subject: Entity{Properties: jsontext.Value(r.object())}, Resource: Entity{Properties: jsontext.Value(r.object())},
	}
	if r.chance(20) {
		q.Subject.Type, q.Subject.ID = r.one("App::User", "Team"), r.one("7", "red")
	}
	if r.chance(20) {
		q.Action.ID = "read"
	}
	if r.chance(20) {
		q.Resource.Type, q.Resource.ID = r.one("Team", ""), r.one("red", "crm/lookup")
	}
	return q
}

func (r random) object() string {
	var parts []string
	add := func(name string, values ...string) {
		if r.chance(60) {
			parts = append(parts, `"`+name+`":`+r.one(values...))
		}
	}
	add("a", `"refund"`, `"ab"`, `1`, `null`)
	add("n", "1", "3", "7.5", "9007199254740991", "1e3", "123456789012345678901")
	add("flag", "true", "false", `"true"`)
	add("list", "[]", "[1,2]", `["refund","lookup"]`, `[{"a":1},null]`)
	add("rec", `{"deep":{"x":1}}`, `{}`, `{"a":1}`, "2")
	add("amount", `"240.00"`, "100.5", "7", `"many"`, `1.00001`)
	add("currency", `"EUR"`, "5")
	return "{" + strings.Join(parts, ",") + "}"
}
