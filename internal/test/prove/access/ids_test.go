package main

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// form is one way to write an identifier that is not the caller's.
type form struct {
	name, text string // text as it stands in a URL
	// exact is true if the text could be the identifier of an object: then the
	// answer is the one for an object that never was.
	exact bool
}

// forms are what an attacker makes of one of the victim's identifiers.
func (m *matrix) forms(kind string) []form {
	id := middle(m.world.theirs[kind])
	out := []form{{"foreign", id, true}}
	for _, n := range m.world.theirs[kind] {
		out = append(out, form{"foreign neighbour", n, true})
	}
	for other, ids := range m.world.theirs {
		if other != kind {
			out = append(out, form{"id of a foreign " + other, ids[0], looks(ids[0]) == looks(id)})
		}
	}
	for _, user := range []string{m.world.victim.Owner.String(), m.world.victim.Org.String(), uuid.Nil.String(), uuid.Max.String()} {
		out = append(out, form{"foreign uuid", user, kind == "member"})
	}
	if n, err := strconv.Atoi(id); err == nil {
		out = append(out,
			form{"plus one", strconv.Itoa(n + 1), true}, form{"minus one", strconv.Itoa(n - 1), true},
			form{"unicode digits", url.PathEscape(strings.Map(func(c rune) rune { return c - '0' + '٠' }, id)), false},
			form{"exponent", id + "e0", false}, form{"fraction", id + ".0", false}, form{"hexadecimal", "0x" + strconv.FormatInt(int64(n), 16), false},
		)
	} else {
		out = append(out,
			form{"upper case", strings.ToUpper(id), false}, form{"without dashes", strings.ReplaceAll(id, "-", ""), false},
			form{"braces", url.PathEscape("{" + id + "}"), false}, form{"urn", "urn:uuid:" + id, false},
		)
	}
	return append(out,
		form{"zero", "0", false}, form{"negative", "-" + id, false}, form{"signed", "+" + id, false},
		form{"huge", "99999999999999999999", false}, form{"beyond safe integers", "9007199254740993", false},
		form{"leading zeros", "000" + id, false}, form{"space before", "%20" + id, false}, form{"space after", id + "%20", false},
		form{"newline after", id + "%0A", false}, form{"nul after", id + "%00", false},
		form{"encoded slash", id + "%2F" + id, false}, form{"climbing", "..%2F" + id, false}, form{"encoded question mark", id + "%3F", false},
		form{"comma", id + "," + id, false}, form{"wildcard", "%25", false}, form{"quote", id + "'--", false},
	)
}

// looks tells what kind of identifier a text could be.
func looks(id string) string {
	if _, err := strconv.Atoi(id); err == nil {
		return "number"
	}
	if uuid.Validate(id) == nil {
		return "uuid"
	}
	return "text"
}

// identifiers tries every form of every foreign identifier wherever the
// operation takes one, with a key that may do everything at home.
func (m *matrix) identifiers(t testing.TB, r rule) {
	t.Helper()
	if r.scope == public {
		return
	}
	for _, upTo := range specimen.Params(r.path) {
		m.pathParam(t, r, upTo)
	}
	if len(specimen.Params(r.path)) > 1 {
		got := m.sendHome(t, r, m.request(t, r.name(), func(upTo string) string { return middle(m.world.theirs[kind(upTo)]) }))
		m.check(got.status == http.StatusNotFound, "%s: the victim's whole path: want 404, got %d", r.name(), got.status)
		m.quiet(r, "whole path", got)
	}
	op := m.doc.Paths[r.path][strings.ToLower(r.method)]
	for _, p := range op.Parameters {
		if p.In == "query" && isReference(p.Name) {
			m.queryParam(t, r, p.Name, p.Required)
		}
	}
	for _, content := range op.RequestBody.Content {
		for _, field := range m.fields(content.Schema, nil) {
			m.check(specimen.NamedBy(field) != nil, "%s: the field %s of the body names something; add it to Named of a noun in testkit/specimen", r.name(), field)
		}
		if !strings.Contains(r.path, "/v1/") { // OTLP has no place for an organization
			m.asserted(t, r)
		}
	}
}

// pathParam tries the forms in one path parameter; the others are ours.
func (m *matrix) pathParam(t testing.TB, r rule, upTo string) {
	t.Helper()
	what := kind(upTo)
	with := func(text string) answer {
		return m.sendHome(t, r, m.request(t, r.name(), func(p string) string {
			if p == upTo {
				return text
			}
			return middle(m.world.own[kind(p)])
		}))
	}
	never := with(specimen.Absent(what))
	m.check(never.status == http.StatusNotFound, "%s: an id that never was: want 404, got %d %s", r.name(), never.status, never.reason())
	integer := m.isInteger(r, upTo)
	for _, f := range m.forms(what) {
		got := with(f.text)
		switch {
		case f.exact || !integer && got.status != http.StatusBadRequest:
			m.check(got.shape() == never.shape(), "%s: %s %s is told from one that never was:\n%s\n%s", r.name(), f.name, f.text, got.shape(), never.shape())
		case integer:
			m.check(got.status == http.StatusBadRequest || got.shape() == never.shape(), "%s: %s %s: want 400 or 404, got %d %s", r.name(), f.name, f.text, got.status, got.reason())
		default:
			m.check(len(f.text) > 32, "%s: %s %s: want 404, got %d %s", r.name(), f.name, f.text, got.status, got.reason())
		}
		m.quiet(r, f.name, got)
	}
}

// queryParam tries the forms in a filter: the victim's match as little as what
// never was. A required parameter is no filter: it names what the answer is
// about, which is not there.
func (m *matrix) queryParam(t testing.TB, r rule, name string, required bool) {
	t.Helper()
	m.check(specimen.NamedBy(name) != nil, "%s: the parameter %s names something; add it to Named of a noun in testkit/specimen", r.name(), name)
	with := func(text string) answer {
		req := m.request(t, r.name(), func(upTo string) string { return middle(m.world.own[kind(upTo)]) })
		if given := regexp.MustCompile(name + "=[^&]*"); given.MatchString(req.target) {
			req.target = given.ReplaceAllLiteralString(req.target, name+"="+text)
			return m.sendHome(t, r, req)
		}
		separator := "?"
		if strings.Contains(req.target, "?") {
			separator = "&"
		}
		req.target += separator + name + "=" + text
		return m.sendHome(t, r, req)
	}
	status := http.StatusOK
	if required {
		status = http.StatusNotFound
	}
	for _, kind := range specimen.NamedBy(name) {
		never := with(specimen.Absent(kind))
		m.check(never.status == status, "%s: %s=%s: want %d, got %d", r.name(), name, specimen.Absent(kind), status, never.status)
		for _, f := range m.forms(kind) {
			got := with(f.text)
			ok := got.shape() == never.shape() || !f.exact && got.status == http.StatusBadRequest
			m.check(ok, "%s: %s=%s (%s) is told from one that never was: %d %s", r.name(), name, f.text, f.name, got.status, got.body)
			m.quiet(r, f.name, got)
		}
	}
}

// asserted sends another organization's id with the body. It is refused like
// one that never was, and nothing is done.
func (m *matrix) asserted(t testing.TB, r rule) {
	t.Helper()
	with := func(org string) answer {
		req := m.request(t, r.name(), func(upTo string) string { return middle(m.world.own[kind(upTo)]) })
		req.body = strings.Replace(req.body, "{", `{"organizationId":"`+org+`",`, 1)
		return m.sendHome(t, r, req)
	}
	never, theirs := with(specimen.Absent("member")), with(m.world.victim.Org.String())
	m.check(theirs.status == http.StatusForbidden && theirs.reason() == "organization_mismatch", "%s: another organization asserted: got %d %s", r.name(), theirs.status, theirs.reason())
	m.check(theirs.shape() == never.shape(), "%s: another organization's id is told from one that never was", r.name())
	m.quiet(r, "asserted organization", theirs)
}

// sendHome calls an operation as the home organization, for its owner where
// only a person may call.
func (m *matrix) sendHome(t testing.TB, r rule, c call) answer {
	t.Helper()
	c.headers = append(c.headers, bearer(m.world.ours.Caller(t, specimen.OfRoute(r.name())).Key.Reveal()))
	if r.people {
		c.headers = append(c.headers, header{"X-On-Behalf-Of", m.world.home.Owner.String()})
	}
	return send(t.Context(), t, m.edge, c)
}

// quiet checks that an answer shows nothing of the victim.
func (m *matrix) quiet(r rule, form string, got answer) {
	shown := got.has(m.world.tells())
	m.check(shown == "", "%s: %s: the answer shows %q of the victim", r.name(), form, shown)
}

func (m *matrix) isInteger(r rule, upTo string) bool {
	name := strings.Trim(upTo[strings.LastIndex(upTo, "{"):], "{}")
	for _, p := range m.doc.Paths[r.path][strings.ToLower(r.method)].Parameters {
		if p.In == "path" && p.Name == name {
			return p.Schema.Type == "integer"
		}
	}
	return false
}

// isReference reports whether a name is that of something. The ruleId of a policy's test is
// a statement of the text in the same body.
func isReference(name string) bool {
	return name != "ruleId" && (strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID"))
}

// fields are the names in a body that refer to something, at any depth.
func (m *matrix) fields(s schema, seen []string) []string {
	if s.Ref != "" {
		name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		if slices.Contains(seen, name) {
			return nil
		}
		return m.fields(m.doc.Components.Schemas[name], append(slices.Clone(seen), name))
	}
	var out []string
	for name, p := range s.Properties {
		if isReference(name) && name != "organizationId" {
			out = append(out, name)
		}
		out = append(out, m.fields(p, seen)...)
	}
	if s.Items != nil {
		out = append(out, m.fields(*s.Items, seen)...)
	}
	for _, alternative := range slices.Concat(s.OneOf, s.AnyOf) {
		out = append(out, m.fields(alternative, seen)...)
	}
	return out
}
