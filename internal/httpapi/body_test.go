package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBodiesAreReadInBothCasings(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())

	t.Run("camelCase and snake_case mean the same, and answers are snake_case", func(t *testing.T) {
		t.Parallel()
		camel := k.do(t, "POST", "/things", `{"name":"n","maxCount":3,"inner":{"innerName":"a"},"innerList":[{"innerName":"b"}]}`)
		snake := k.do(t, "POST", "/things", `{"name":"n","max_count":3,"inner":{"inner_name":"a"},"inner_list":[{"inner_name":"b"}]}`)
		require.Equal(t, http.StatusCreated, camel.Status, camel.Body)
		require.Equal(t, camel.Body, snake.Body)
		require.Contains(t, camel.Body, `"max_count":3`)
		require.Contains(t, camel.Body, `"inner_names":["a","b"]`)
		require.Empty(t, snake.Header.Get("X-Ignored-Fields"))
	})

	t.Run("a response can be edited and sent back", func(t *testing.T) {
		t.Parallel()
		first := k.do(t, "POST", "/things", `{"name":"n","maxCount":3,"startsAt":"2026-01-31T12:00:00+02:00","datasetId":42}`)
		again := k.do(t, "POST", "/things", first.Body)
		require.Equal(t, http.StatusCreated, again.Status, again.Body)
		require.Equal(t, first.Body, again.Body)
		require.Equal(t, "/id, /inner_names, /created_at", again.Header.Get("X-Ignored-Fields"))
	})

	t.Run("names inside free-form values are kept", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/things", `{"name":"n","metadata":{"maxCount":1,"max_count":2,"Max_Count":{"innerName":3}},"someOutput":{"a_b":1,"aB":[{"max_count":null}]}}`)
		require.Contains(t, a.Body, `"metadata":{"maxCount":1,"max_count":2,"Max_Count":{"innerName":3}}`)
		require.Contains(t, a.Body, `"some_output":{"a_b":1,"aB":[{"max_count":null}]}`)
	})

	t.Run("both casings with equal values are one field", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/things", `{"name":"n","maxCount":3,"max_count":3.0}`)
		require.Equal(t, http.StatusCreated, a.Status, a.Body)
	})

	t.Run("both casings with different values are ambiguous, at every level", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/things", `{"name":"n","maxCount":3,"max_count":4,"inner":{"inner_name":"a","innerName":"b"},"innerList":[{},{"innerName":"a","inner_name":"b"}]}`)
		require.Equal(t, http.StatusBadRequest, a.Status)
		require.ElementsMatch(t, []string{"body /max_count ambiguous_field", "body /inner/inner_name ambiguous_field", "body /innerList/1/inner_name ambiguous_field"}, a.fields())
	})

	t.Run("a casing of its own is ambiguous, not ignored", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/things", `{"name":"n","MaxCount":3,"inner":{"INNER_NAME":"a"}}`)
		require.ElementsMatch(t, []string{"body /MaxCount ambiguous_field", "body /inner/INNER_NAME ambiguous_field"}, a.fields())
	})
}

func TestQueriesAreReadInBothCasings(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	require.Equal(t, http.StatusOK, k.do(t, "GET", "/things?sortBy=age&includeTotal=true", "").Status)
	require.Equal(t, http.StatusOK, k.do(t, "GET", "/things?sort_by=age&include_total=true", "").Status)
	require.Equal(t, http.StatusOK, k.do(t, "GET", "/things?sort_by=age&sortBy=age", "").Status)
	a := k.do(t, "GET", "/things?sort_by=age&sortBy=name&limit=1&limit=2&limit=3&include_total=true&includeTotal=false", "")
	require.Equal(t, []string{"query includeTotal ambiguous_field", "query limit ambiguous_field", "query sortBy ambiguous_field"}, a.fields())
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())

	t.Run("are ignored and named", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/things?zz=1&aa=2&dryRun=1", `{"name":"n","extra":{"maxCount":[]},"inner":{"more":1},"a/b~c":1}`)
		require.Equal(t, http.StatusCreated, a.Status, a.Body)
		require.Equal(t, "/extra, /inner/more, /a~1b~0c", a.Header.Get("X-Ignored-Fields"))
		require.Equal(t, "aa, zz", a.Header.Get("X-Ignored-Params"))
	})

	t.Run("cannot break out of the header", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/things?a%0d%0aSet-Cookie:%20x=1&b%2c%20c=2&%00%ff=3", `{"name":"n","a\r\nSet-Cookie: x":1,"b, c":2,"\u0000é\u2028":3}`)
		require.Equal(t, http.StatusCreated, a.Status, a.Body)
		require.Empty(t, a.Header.Get("Set-Cookie"))
		for _, name := range []string{"X-Ignored-Fields", "X-Ignored-Params"} {
			require.Regexp(t, `^[!-~]+(, [!-~]+){2}$`, a.Header.Get(name))
		}
	})

	t.Run("are cut off when there are many or they are long", func(t *testing.T) {
		t.Parallel()
		var body strings.Builder
		for i := range 500 {
			fmt.Fprintf(&body, `,"unknown%d":1`, i)
		}
		a := k.do(t, "POST", "/things", `{"name":"n"`+body.String()+`}`)
		require.Less(t, len(a.Header.Get("X-Ignored-Fields")), 600)
		require.True(t, strings.HasSuffix(a.Header.Get("X-Ignored-Fields"), ", ..."))
		a = k.do(t, "POST", "/things", `{"name":"n","`+strings.Repeat("k", 600)+`":1}`)
		require.Less(t, len(a.Header.Get("X-Ignored-Fields")), 300)
	})

	t.Run("are refused by strict operations", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/strict", `{"name":"n","extra":1,"inner":{"more":1},"innerList":[{"other":2}]}`)
		require.ElementsMatch(t, []string{"body /extra unknown_field", "body /inner/more unknown_field", "body /innerList/0/other unknown_field"}, a.fields())
	})

	t.Run("are ignored by strict operations if they are fields of the response", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/strict", `{"name":"n","id":"7","created_at":"2026-01-31T12:00:00.000Z","inner_names":[]}`)
		require.Equal(t, http.StatusCreated, a.Status, a.Body)
		require.Equal(t, "/id, /created_at, /inner_names", a.Header.Get("X-Ignored-Fields"))
	})
}

func TestOrganizationIsAssertedOnly(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	ours, theirs := k.org.String(), "018f2f6e-7c4e-7cc0-8000-000000000000"
	for _, c := range []struct {
		is, members string
		status      int
	}{
		{"the same in camelCase", `"organizationId":"` + ours + `"`, 201},
		{"the same in snake_case", `"organization_id":"` + ours + `"`, 201},
		{"the same in both", `"organizationId":"` + ours + `","organization_id":"` + ours + `"`, 201},
		{"the same in capitals", `"organizationId":"` + strings.ToUpper(ours) + `"`, 201},
		{"another one", `"organizationId":"` + theirs + `"`, 403},
		{"another one in snake_case", `"organization_id":"` + theirs + `"`, 403},
		{"another one, then the same", `"organizationId":"` + theirs + `","organization_id":"` + ours + `"`, 403},
		{"the same, then another one", `"organizationId":"` + ours + `","organization_id":"` + theirs + `"`, 403},
		{"no id at all", `"organizationId":"acme"`, 403},
		{"a number", `"organizationId":7`, 403},
		{"null", `"organizationId":null`, 403},
	} {
		for _, path := range []string{"/things", "/strict"} {
			t.Run(path+" "+c.is, func(t *testing.T) {
				t.Parallel()
				a := k.do(t, "POST", path, `{"name":"n",`+c.members+`}`)
				require.Equal(t, c.status, a.Status, a.Body)
				require.NotContains(t, a.Header.Get("X-Ignored-Fields"), "organization")
				if c.status == http.StatusForbidden {
					require.Equal(t, "organization_mismatch", a.reason())
				}
			})
		}
	}
}

func TestViolationsAreReportedTogether(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())

	t.Run("of body and query", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/things?dryRun=7", `{"name":"","maxCount":10,"startsAt":"x","inner":{"innerName":"too long"},"innerList":[{},{"innerName":5}],"datasetId":"0x"}`)
		require.Equal(t, http.StatusBadRequest, a.Status)
		require.ElementsMatch(t, []string{
			"query dryRun max", "body /name length", "body /maxCount max", "body /startsAt format",
			"body /inner/innerName length", "body /innerList/1/innerName type", "body /datasetId pattern",
		}, a.fields())
		for _, f := range a.Error.Details["fields"].([]any) {
			if m := f.(map[string]any); m["path"] == "/maxCount" {
				require.Equal(t, map[string]any{"in": "body", "path": "/maxCount", "code": "max", "message": "must be at most 9", "limit": 9.0}, m)
			}
		}
	})

	t.Run("at most a hundred of them", func(t *testing.T) {
		t.Parallel()
		list := make([]map[string]any, 300)
		for i := range list {
			list[i] = map[string]any{"innerName": i}
		}
		text, err := json.Marshal(map[string]any{"name": "n", "innerList": list})
		require.NoError(t, err)
		require.Len(t, k.do(t, "POST", "/things", string(text)).fields(), 100)
	})

	t.Run("a missing field is named where it should be", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "POST", "/things", `{"maxCount":0}`)
		require.ElementsMatch(t, []string{"body /name required", "body /maxCount min"}, a.fields())
	})
}
