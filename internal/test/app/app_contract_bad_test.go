package app_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/assayhq/assay/internal/core/principal"
)

// canary is in the values that are sent, and must be in no answer.
const canary = "Zq7CanaryXw2"

// generator makes the bad requests of one operation, the same ones each time.
type generator struct {
	rng  *rand.Rand
	doc  *document
	op   operation
	key  string
	weak []weakKey
	out  []bad
}

// all returns at least requestsPerOperation bad requests.
func (g *generator) all() []bad {
	g.routes()
	g.methods()
	g.credentials()
	g.paths()
	g.headers()
	if !g.op.raw() { // which read no query
		g.queries()
	}
	if g.op.body != nil {
		g.transport()
	}
	if g.op.body != nil && !g.op.raw() {
		g.syntax()
		g.fields(g.doc.resolve(g.op.doc.body), nil, 0)
	}
	for len(g.out) < requestsPerOperation {
		g.randomRoute()
		g.randomMethod()
		if !g.op.raw() {
			g.randomQuery()
		}
		if !g.op.public() {
			g.randomKey()
		}
		if g.op.body != nil {
			g.randomBody()
		}
	}
	return g.out
}

// request is a request that has nothing wrong yet.
func (g *generator) request(kind string, want ...int) bad {
	b := bad{kind: kind, method: g.op.Method, target: g.op.path, body: g.op.body, want: want, header: http.Header{
		"Authorization": {"Bearer " + g.key},
	}}
	if b.body != nil {
		b.header.Set("Content-Type", "application/json")
	}
	return b
}

func (g *generator) add(b bad) { g.out = append(g.out, b) }

func (g *generator) routes() {
	for _, suffix := range []string{"/a/b/c/d/e", "/%2e%2e/x/y/z/w", "//////", "/" + canary + "/x/x/x/x", "/%00/x/x/x/x", "/%ff%fe/x/x/x/x", "/\u202e/x/x/x/x"} {
		b := g.request("unknown route", 404)
		b.target = g.op.path + suffix
		g.add(b)
	}
	b := g.request("trailing slash", 400, 404, 405)
	b.target += "/"
	g.add(b)
	b = g.request("other casing of the route", 404)
	b.target = strings.ToUpper(g.op.path)
	g.add(b)
	b = g.request("unknown route without a key", 401)
	b.target = "/api/" + canary
	b.header.Del("Authorization")
	g.add(b)
}

func (g *generator) randomRoute() {
	b := g.request("random route", 404)
	b.target = g.op.path + "/" + g.token(1+g.rng.IntN(12)) + "/" + g.token(3) + "/x/y/" + url.PathEscape(g.noise(6))
	g.add(b)
}

func (g *generator) methods() {
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "HEAD", "PROPFIND", "FOO", "get", "QUERY"} {
		if slices.Contains(g.op.only, m) || (m == "HEAD" && slices.Contains(g.op.only, "GET")) {
			continue
		}
		if m == "HEAD" {
			continue // an answer to HEAD has no body to look at
		}
		b := g.request("wrong method", 405)
		b.method = m
		g.add(b)
	}
}

func (g *generator) randomMethod() {
	b := g.request("random method", 405)
	b.method = "X" + strings.ToUpper(g.token(1+g.rng.IntN(10)))
	g.add(b)
}

func (g *generator) credentials() {
	if g.op.public() {
		return
	}
	key := g.key
	for _, v := range [][]string{
		nil,
		{""},
		{"Bearer"},
		{"Bearer "},
		{"Bearer  " + key},
		{"Bearer " + key + " "},
		{"Basic " + key},
		{key},
		{"Token " + key},
		{"Bearer\t" + key},
		{"Bearer " + key + "," + key},
		{"Bearer " + key, "Bearer " + key},
		{"Bearer " + key[:len(key)-1]},
		{"Bearer " + key + "0"},
		{"Bearer " + strings.ToUpper(key)},
		{"Bearer sk-" + canary},
		{"Bearer eyJ" + canary},
		{"Bearer " + canary},
		{"Bearer asy_live_" + canary},
		{"Bearer asy_____"},
		{"Bearer " + strings.Repeat("a", 8000)},
		{"Bearer \u202e" + key},
		{"Bearer \x00"},
		{"Bearer " + strings.Replace(key, "test", "live", 1)},
		{"Bearer " + strings.Replace(key, "asy_test", "asy_prod", 1)},
		{"Bearer asy_\xff\xfe"},
	} {
		b := g.request("bad credential", 401)
		b.header["Authorization"] = v
		g.add(b)
	}
	for _, w := range g.weak {
		if g.op.Scope == principal.AnyKey || slices.Contains(w.scopes, g.op.Scope) {
			continue
		}
		b := g.request("missing scope", 401)
		b.header.Set("Authorization", "Bearer "+w.text)
		b.body = []byte("{" + canary) // the scope is looked at before the body
		b.secrets = []string{w.text}
		g.add(b)
	}
}

func (g *generator) randomKey() {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
	text := []byte(g.key)
	for range 1 + g.rng.IntN(3) {
		i := g.rng.IntN(len(text))
		text[i] = alphabet[(strings.IndexByte(alphabet, text[i])+1+g.rng.IntN(len(alphabet)-1))%len(alphabet)]
	}
	if string(text) == g.key {
		return
	}
	b := g.request("changed key", 401)
	b.header.Set("Authorization", "Bearer "+string(text))
	b.secrets = []string{string(text)}
	g.add(b)
}

// paths puts what is no identifier into each place of the path.
func (g *generator) paths() {
	if g.op.path == g.op.Path {
		return
	}
	garbage := []string{
		"0", "-1", "00", "01", "+1", "1.0", "1e3", "0x10", "NaN", "null", "undefined", "true", canary, "%20", "1%20", "%00", "1%00", "%ff", "%c0%af",
		"%2F", "1%2F2", "..%2F..%2Fetc%2Fpasswd", "%2e%2e", "%E2%80%AE", "%F0%9F%92%A9", "٣", "１", "'%20OR%201=1--", "%22", "%7B%7D", "*", "$1", "%25s%25n",
		"9007199254740991", "9007199254740992", "9223372036854775807", "9223372036854775808", "18446744073709551616", "999999999999999999999999999999999",
		strings.Repeat("9", 33), strings.Repeat("1", 5000), strings.Repeat("%2F", 100), "018f2f6e-7c4e-7cc0-8000-000000000000",
	}
	for range 10 {
		garbage = append(garbage, strconv.FormatInt(1e14+g.rng.Int64N(1e14), 10), url.PathEscape(g.noise(8)))
	}
	parts := strings.Split(g.op.Path, "/")
	filled := strings.Split(g.op.path, "/")
	for i := range parts {
		if !strings.HasPrefix(parts[i], "{") {
			continue
		}
		for _, text := range garbage {
			b := g.request("bad path id", 400, 404)
			changed := slices.Clone(filled)
			changed[i] = text
			b.target = strings.Join(changed, "/")
			g.add(b)
		}
	}
}

func (g *generator) queries() {
	query := func(kind, raw string) {
		b := g.request(kind, 400)
		b.target += "?" + raw
		g.add(b)
	}
	for _, raw := range []string{"%zz", "a=%", "a=%f", "a=1;b=2", "%=%", canary + "=%G0"} {
		query("query that is not escaped", raw)
	}
	for _, p := range g.op.doc.params {
		if p.in != "query" {
			continue
		}
		for _, v := range g.badText(p) {
			query("bad query parameter", p.name+"="+url.QueryEscape(v))
			if s := snakeOf(p.name); s != p.name {
				query("bad query parameter in snake_case", s+"="+url.QueryEscape(v))
			}
		}
		if object(p.schema, "items")["enum"] == nil && types(p.schema)[0] == "array" {
			continue // any texts, any number of times
		}
		a, b := g.twoValues(p)
		query("query parameter twice", p.name+"="+a+"&"+p.name+"="+b)
		if s := snakeOf(p.name); s != p.name {
			query("query parameter in both casings", p.name+"="+a+"&"+s+"="+b)
		}
	}
}

func (g *generator) randomQuery() {
	b := g.request("random query", 400)
	b.target += "?" + g.token(4) + "=%" + string("ghijzxyGZ!"[g.rng.IntN(10)]) + g.token(2)
	g.add(b)
}

// badText is what a query parameter does not take.
func (g *generator) badText(p docParam) []string {
	s := p.schema
	out := []string{}
	switch types(s)[0] {
	case "integer":
		out = append(out, canary, "1.5", "1e3", "0x10", "१", "1,2", " 1", "1 ", "--1", "9223372036854775808", "-9223372036854775809", strings.Repeat("9", 400), "true", "[]", "1\x00")
		if low, ok := number(s["minimum"]); ok {
			out = append(out, fmt.Sprintf("%.0f", low-1), "-9223372036854775808")
		}
		if high, ok := number(s["maximum"]); ok {
			out = append(out, fmt.Sprintf("%.0f", high+1), "9223372036854775807")
		}
	case "number":
		out = append(out, canary, "1,5", "1e999", "NaN", "Inf", "0x1p-2")
	case "boolean":
		out = append(out, canary, "2", "-1", "yes", "wahr", "truefalse")
	default:
		if _, ok := s["enum"]; ok {
			return append(out, canary, "ACTIVE ", "'", "\x00")
		}
		if s["format"] == "date-time" {
			return append(out, canary, "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01 00:00:00", "1735689600", "2026-01-01T00:00:00", "2026-01-01T25:00:00Z")
		}
		if high, ok := number(s["maxLength"]); ok {
			out = append(out, strings.Repeat("x", int(high)+1), strings.Repeat("é", int(high)+1))
		}
		out = append(out, "\x00", "a\x00b", "\xff", canary+"\x00")
	}
	return out
}

// twoValues are two acceptable values of a query parameter.
func (g *generator) twoValues(p docParam) (a, b string) {
	if list, ok := p.schema["enum"].([]any); ok {
		return list[0].(string), list[1].(string)
	}
	switch types(p.schema)[0] {
	case "boolean":
		return "true", "false"
	case "string":
		if p.schema["format"] == "date-time" {
			return "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
		}
	}
	return "1", "2"
}

func (g *generator) headers() {
	if g.op.Mutates() {
		for _, v := range [][]string{{""}, {strings.Repeat("k", 256)}, {strings.Repeat("k", 20000)}, {"a\tb"}, {"a\x00b"}, {"a\x7f"}, {"é"}, {"\xff"}, {"a\r\nX-Evil: 1"}, {"a", "b"}, {"a", "a"}} {
			b := g.request("bad Idempotency-Key", 400)
			b.header["Idempotency-Key"] = v
			g.add(b)
		}
	}
	for _, p := range g.op.doc.params {
		if p.in != "header" || p.name != "If-Match" {
			continue
		}
		for _, v := range []string{canary, "v1", `"1"`, `"v0"`, `"v-1"`, `"v+1"`, `"v01"`, `"v1`, `v1"`, `"v1", "v2"`, `"v99999999999999999999"`, `"v1.0"`, `"v1 "`, "W/", `W/W/"v1"`, `""`, "\xff", `"v` + canary + `"`} {
			b := g.request("bad If-Match", 400)
			b.header.Set(p.name, v)
			g.add(b)
		}
	}
}

// transport is about how a body is sent.
func (g *generator) transport() {
	for _, v := range []string{"text/plain", "text/json", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=" + canary, "application/json; charset=utf-16", "application/json; charset=latin1", "application/jsonx", "application", "/", ";", canary, "application/json, text/plain", "application/cbor", "\xff"} {
		b := g.request("wrong content type", 415)
		b.header.Set("Content-Type", v)
		g.add(b)
	}
	for _, v := range []string{"br", "deflate", "zstd", "compress", "gzip, br", "gzip, gzip", canary, "gzip;q=1", "*"} {
		b := g.request("unsupported encoding", 415)
		b.header.Set("Content-Encoding", v)
		g.add(b)
	}
	for _, n := range []int64{g.op.BodyLimit + 1, 1 << 40, 1<<63 - 1} {
		b := g.request("declared too large", 413)
		b.declare = n
		g.add(b)
	}
	b := g.request("too large in chunks", 413)
	b.stream = io.LimitReader(spaces{}, g.op.BodyLimit+1)
	g.add(b)
	b = g.request("gzip bomb", 413)
	b.body = bomb(g.op.BodyLimit + 1)
	b.header.Set("Content-Encoding", "gzip")
	g.add(b)
	b = g.request("endless gzip bomb", 413)
	b.stream = io.MultiReader(bytes.NewReader(bomb(g.op.BodyLimit+1)), bytes.NewReader(bomb(g.op.BodyLimit+1)))
	b.header.Set("Content-Encoding", "gzip")
	g.add(b)

	zipped := deflated(g.op.body)
	broken := func(kind string, body []byte) {
		b := g.request(kind, 400)
		b.body = body
		b.header.Set("Content-Encoding", "gzip")
		g.add(b)
	}
	broken("plain body announced as gzip", g.op.body)
	broken("garbage after gzip", append(slices.Clone(zipped), canary...))
	for i := 1; i < len(zipped); i++ {
		broken("truncated gzip", zipped[:i])
	}
	for i := 10; i < len(zipped); i++ {
		damaged := slices.Clone(zipped)
		damaged[i] ^= byte(1 + g.rng.IntN(255))
		if !inflates(damaged) { // a few bits are only padding
			broken("corrupt gzip", damaged)
		}
	}
}

// syntax is about what JSON is taken at all.
func (g *generator) syntax() {
	body := func(kind, text string) {
		b := g.request(kind, 400)
		b.body = []byte(text)
		g.add(b)
	}
	base := string(g.op.body)
	with := func(member string) string { // the base with one more member
		if base == "{}" {
			return "{" + member + "}"
		}
		return "{" + member + "," + base[1:]
	}
	for i := 1; i < len(base); i++ {
		body("truncated JSON", base[:i])
	}
	for _, m := range []string{
		`"zz":1,"zz":1`, `"zz":1,"z\u007a":2`, `"zz":{"a":1,"a":2}`, `"zz":[[{"a":{"b":1,"b":1}}]]`, `"zz":{"":1,"":2}`, `"zz":{"` + canary + `2":{"q":1,"q":"` + canary + `"}}`,
	} {
		if strings.Contains(m, canary+"2") {
			m = strings.ReplaceAll(m, canary+"2", "inner")
		}
		body("duplicate name", with(m))
	}
	for _, n := range []int{65, 66, 100, 1000, 9999, 10000, 10001, 20000} {
		body("deep arrays", with(`"zz":`+strings.Repeat("[", n)+strings.Repeat("]", n)))
		body("deep objects", with(`"zz":`+strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n)))
		body("deep arrays that never end", strings.Repeat("[", n))
	}
	for _, v := range []string{
		"\"\xff\"", "\"" + canary + "\xc0\xaf\"", `"\ud800"`, `"\udc00\ud800"`, "\"\xed\xa0\x80\"", `"\x41"`, `"\u12"`, "\"a\nb\"", "\"\x00\"", `'a'`,
		"9007199254740992", "-9007199254740992", "123456789012345678901234567890", "1e999", "-1e999", "1e99999999999", "NaN", "Infinity", "-Infinity", "-", "01", "+1", ".5", "1.", "1e", "0x10", "1_000",
		"1." + strings.Repeat("0", 70), strings.Repeat("1", 100000), "undefined", "True", "nul", "/* c */1", "[1,]", "{,}", `{"a"}`, `{"a":}`, `{a:1}`, `{1:1}`, "[1 2]", "", "}", "]",
	} {
		body("value that is no strict JSON", with(`"zz":`+v))
		body("value that is no strict JSON, deeper", with(`"zz":[{"a":`+v+`}]`))
	}
	body("name that is no UTF-8", with("\"\xff\xfe\":1"))
	body("byte order mark", "\ufeff"+base)
	for _, rest := range []string{"x", "{}", "[]", "null", ",", "\x00", base, "//" + canary} {
		body("data after the end", base+rest)
	}
	for _, top := range []string{"[]", "[" + base + "]", `"` + canary + `"`, "12", "true", "null"} {
		body("body that is no object", top)
	}
	if !g.op.OptionalBody {
		for _, blank := range []string{"", " ", "\n\t "} {
			body("no body", blank)
		}
	}
}

// randomBody damages one or two bytes of an accepted body.
func (g *generator) randomBody() {
	if g.op.raw() {
		b := g.request("truncated OTLP", 400)
		b.body = b.body[:1+g.rng.IntN(len(b.body)-1)]
		g.add(b)
		return
	}
	for {
		text := slices.Clone(g.op.body)
		for range 1 + g.rng.IntN(2) {
			text[g.rng.IntN(len(text))] = byte(g.rng.IntN(256))
		}
		if !json.Valid(text) {
			b := g.request("damaged JSON", 400)
			b.body = text
			g.add(b)
			return
		}
	}
}

func (g *generator) token(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz"[g.rng.IntN(26)]
	}
	return string(b)
}

func (g *generator) noise(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.rng.IntN(256))
	}
	return "!" + string(b)
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func snakeOf(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// spaces never ends.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

var bombs sync.Map

// bomb is n spaces, compressed.
func bomb(n int64) []byte {
	if b, ok := bombs.Load(n); ok {
		return b.([]byte)
	}
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	_, _ = io.CopyN(z, spaces{}, n)
	_ = z.Close()
	bombs.Store(n, buf.Bytes())
	return buf.Bytes()
}

func deflated(text []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write(text)
	_ = z.Close()
	return buf.Bytes()
}

func inflates(text []byte) bool {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		_, err = io.Copy(io.Discard, z)
	}
	return err == nil
}

func bodyReader(b []byte) io.Reader {
	if b == nil {
		return nil
	}
	return bytes.NewReader(b)
}
