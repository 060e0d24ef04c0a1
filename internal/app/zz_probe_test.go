package app_test

import (
	"strings"
	"testing"
	"bytes"

	"github.com/assayhq/assay/internal/testkit"
)

func TestProbe(t *testing.T) {
	k := testkit.New(t)
	c := k.Org(t)
	try := func(m, p, b string, o ...testkit.Option) string {
		var r *testkit.Response
		var err error
		if b == "" { r, err = c.Send(t.Context(), m, p, nil, o...) } else { r, err = c.Send(t.Context(), m, p, bytes.NewReader([]byte(b)), o...) }
		if err != nil { t.Logf("%s %s: %v", m, p, err); return "" }
		t.Logf("%s %.80s %.80s → %d %.400s %v", m, p, b, r.Status, r.Body, r.Header)
		return string(r.Body)
	}
	try("GET", "/api/datasets?offset=9223372036854775807", "")
	try("GET", "/api/datasets?offset=2147483648", "")
	try("GET", "/api/datasets?offset=4294967297&limit=1000", "")
	try("GET", "/api/datasets?createdAfter=0000-01-01T00:00:00Z", "")
	try("GET", "/api/datasets?createdAfter=9999-12-31T23:59:59-23:59", "")
	try("POST", "/api/datasets", `{"name":"x","tags":["`+strings.Repeat("t", 900000)+`"]}`)
	try("POST", "/api/datasets", `{"name":"x","metadata":{"a":"\u0000"}}`)
	try("POST", "/api/datasets", `{"name":"x","metadata":{"\u0000":"a"}}`)
	try("POST", "/api/datasets", `{"name":"x","schema":{"$ref":"#"}}`)
	try("POST", "/api/datasets", `{"name":"x","schema":{"$ref":"file:///etc/passwd"}}`)
	try("POST", "/api/datasets", `{"name":"x","schema":{"$id":"http://x/y","$ref":"http://x/y#"}}`)
	try("POST", "/api/datasets", `{"name":"x","schema":{"properties":{"input":{"pattern":"^zzz$"}}}}`)
	try("POST", "/api/datasets", `{"name":"x","schema":{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/a"}}}}`)
	for _, id := range []string{"1","2","3","4","5","6","7","8"} {
		try("POST", "/api/datasets/"+id+"/items", `{"input":"CANARYVALUE"}`)
		try("POST", "/api/datasets/"+id+"/items", `{"input":"a\u0000"}`)
		try("POST", "/api/datasets/"+id+"/items", `{"input":1e300,"weight":1e-320}`)
	}
	try("GET", "/api/datasets/1/items?offset=100001", "")
	try("GET", "/api/datasets/1/items?offset=1&cursor=abc", "")
	try("GET", "/api/datasets/1/items?offset=9223372036854775807", "")
	try("GET", "/api/datasets/1/versions?offset=9223372036854775807", "")
	try("POST", "/api/datasets", `{"name":"x","organizationId":"00000000-0000-0000-0000-000000000000","organization_id":"`+c.Org.String()+`"}`)
	try("FOO", "/api/nope/x", "")
	try("POST", "/api/datasets/1%2F2", "{}")
	try("GET", "/api/health%2Fready", "", testkit.Header("Authorization", ""))
	try("HEAD", "/api/datasets", "")
	try("POST", "/api/datasets", `null`)
	try("PATCH", "/api/datasets/1", `null`)
	try("POST", "/api/datasets", `{"name":"x","`+strings.Repeat("k", 600)+`":1}`)
	try("PATCH", "/api/datasets/1", `{"name":"x"}`, testkit.Header("X-Ignored-Fields","q"))
	try("POST", "/api/datasets/2/items", `{"items":[{"input":1,"zz":2},{"input":1,"Weight":2,"split":"q"}],"weight":-1,"source":{}}`)
	try("GET", "/api/datasets?limit=0&offset=-1&status=x&limit=&search=%ff", "")
	try("GET", "/api/datasets?limit=", "")
}
