package reference

import (
	"cmp"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/shape"
)

func (d *refDocument) operation(op refOperation, method, route, base string) opView {
	v := opView{
		ID: op.ID, Method: strings.ToUpper(method), Summary: cmp.Or(op.Summary, op.ID), Contract: op.Contract,
		tag: "Other", path: route, Path: routeSpans(route),
		Description: prose(op.Description), Deprecated: op.Deprecated, Public: len(op.Security) == 0,
	}
	if len(op.Tags) > 0 {
		v.tag = op.Tags[0]
	}
	for _, requirement := range op.Security {
		v.Scope = strings.Join(requirement["apiKey"], " ")
	}
	for _, prm := range sortedParams(op.Parameters) {
		s := d.schema(prm.Schema, nil)
		f := fieldView{Name: prm.Name, Required: prm.Required, Schema: s, Text: prose(prm.Description)}
		if len(f.Text) == 0 {
			f.Text = s.Text
		}
		v.Params = append(v.Params, paramView{In: prm.In, Field: f})
	}
	if op.Body != nil {
		v.Body = &bodyView{Required: op.Body.Required, Schema: d.schema(op.Body.Content["application/json"].Schema, nil)}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if strings.HasPrefix(status, "2") || strings.HasPrefix(status, "3") {
			v.Results = append(v.Results, d.result(status, op.Responses[status]))
		} else {
			v.Errors = append(v.Errors, status)
		}
	}
	v.Curl = d.curl(op, v, base)
	return v
}

// result describes one success: its fields if it is JSON, its media type
// otherwise.
func (d *refDocument) result(status string, declared refResponse) resultView {
	r := d.response(declared)
	v := resultView{Status: status, Text: r.Description}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		if r.Headers[name].Ref == "" { // those of every operation would hide its own
			v.Headers = append(v.Headers, name)
		}
	}
	for _, media := range slices.Sorted(maps.Keys(r.Content)) {
		v.Media = media
		if media == "application/json" {
			s := d.schema(r.Content[media].Schema, nil)
			v.Schema = &s
			v.Sample = indented(d.sample(r.Content[media].Schema, nil, true))
			break
		}
	}
	return v
}

func (d *refDocument) response(r refResponse) refResponse {
	if r.Ref != "" {
		return d.Components.Responses[path.Base(r.Ref)]
	}
	return r
}

// sortedParams puts parameters in the order in which a caller fills them in;
// within that, they keep the order of their declaration.
func sortedParams(params []refParam) []refParam {
	order := []string{"path", "query", "header"}
	return slices.SortedStableFunc(slices.Values(params), func(a, b refParam) int {
		required := map[bool]int{true: 0, false: 1}
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.In), slices.Index(order, b.In)),
			cmp.Compare(required[a.Required], required[b.Required]))
	})
}

// curl writes the shortest request that the operation accepts. Values that
// only the caller can know are shell variables.
func (d *refDocument) curl(op refOperation, v opView, base string) string {
	target, query := v.path, url.Values{}
	lines := []string{}
	for _, prm := range sortedParams(op.Parameters) {
		value, known := d.paramSample(prm)
		switch {
		case prm.In == "path" && known:
			target = strings.ReplaceAll(target, "{"+prm.Name+"}", url.QueryEscape(value))
		case prm.In == "path":
			target = strings.ReplaceAll(target, "{"+prm.Name+"}", "$"+strings.ToUpper(shape.SnakeCase(prm.Name)))
		case prm.In == "query" && prm.Required:
			query.Set(prm.Name, value)
		case prm.In == "header" && prm.Required:
			lines = append(lines, "-H "+shellQuote(prm.Name+": "+value))
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if !v.Public {
		lines = append([]string{`-H "Authorization: Bearer $SERVICE_API_KEY"`}, lines...)
	}
	if op.Body != nil && op.Body.Required {
		lines = append(lines, d.curlBody(op.Body)...)
	}
	head := []string{`curl "` + base + target + `"`}
	if v.Method != "GET" {
		head = append(head, "-X "+v.Method)
	}
	return strings.Join(append(head, lines...), " \\\n  ")
}

// curlBody sends a sample, or a file if the body is not JSON.
func (d *refDocument) curlBody(b *refBody) []string {
	media, ok := b.Content["application/json"]
	if !ok {
		return []string{`-H "Content-Type: ` + slices.Min(slices.Collect(maps.Keys(b.Content))) + `"`, `--data-binary "@$FILE"`}
	}
	body := indented(d.sample(media.Schema, nil, false))
	body = strings.ReplaceAll(body, "\n", "\n  ") // a JSON string has no line ends, so only space is added
	return []string{`-H "Content-Type: application/json"`, "-d " + shellQuote(body)}
}

func (d *refDocument) paramSample(p refParam) (value string, known bool) {
	if len(p.Example) > 0 {
		return plain(p.Example), true
	}
	s, _, _ := d.resolve(p.Schema, nil)
	raw, err := json.Marshal(d.sample(s, nil, false), json.Deterministic(true))
	return plain(raw), err == nil && (len(s.Examples) > 0 || len(s.Enum) > 0 || len(s.Default) > 0)
}

// shellQuote makes text one literal word of a POSIX shell.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// errorExample is written by the types that write real errors, so it cannot
// differ from them.
func errorExample() string {
	f, _ := fault.From(httpapi.Invalid(fault.Field{In: "body", Path: "/name", Code: "required", Message: "is required"}))
	return indented(httpapi.Envelope{Body: httpapi.ErrorBody{
		Code: string(f.Kind), Message: f.Message, RequestID: "0198c5f2-7d7e-7c31-9f0a-3f1c52a6b8e4",
		Details: map[string]any{"reason": f.Reason, "fields": f.Fields},
	}})
}

// routeSpans marks the parameters of a route, which the page shows as code.
func routeSpans(route string) []span {
	var out []span
	for route != "" {
		before, rest, found := strings.Cut(route, "{")
		if before != "" {
			out = append(out, span{Text: before})
		}
		name, after, _ := strings.Cut(rest, "}")
		if found {
			out = append(out, span{Text: "{" + name + "}", Code: true})
		}
		route = after
	}
	return out
}

// prose splits a description into paragraphs, and paragraphs at backticks. A
// backtick without a partner stays a backtick.
func prose(text string) []paragraph {
	var out []paragraph
	for block := range strings.SplitSeq(text, "\n\n") {
		if block = strings.TrimSpace(block); block == "" {
			continue
		}
		var p paragraph
		for {
			before, rest, opened := strings.Cut(block, "`")
			code, after, closed := strings.Cut(rest, "`")
			if !opened || !closed {
				p = append(p, span{Text: block})
				break
			}
			p = append(p, span{Text: before}, span{Text: code, Code: true})
			block = after
		}
		out = append(out, p)
	}
	return out
}
