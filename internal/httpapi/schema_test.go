package httpapi_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

// document is the part of a rendered document that these tests read.
type document struct {
	Tags  []map[string]string `json:"tags"`
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name string `json:"name"`
			In   string `json:"in"`
		} `json:"parameters"`
		Responses  map[string]response `json:"responses"`
		Validators []string            `json:"x-request-validators"`
	} `json:"paths"`
	Components struct {
		Headers   map[string]any            `json:"headers"`
		Responses map[string]response       `json:"responses"`
		Schemas   map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

type response struct {
	Headers map[string]any `json:"headers"`
}

func (k *kit) document(t testing.TB) document {
	t.Helper()
	var d document
	require.NoError(t, json.Unmarshal(k.edge.OpenAPI(), &d))
	return d
}

type outFault struct{ Body fault.Error }

func TestSchemasHaveGivenNames(t *testing.T) {
	t.Parallel()
	op := httpapi.Op{ID: "odd", Method: "GET", Path: "/odd", Tag: "Odd", Scope: principal.EvalRead, Status: 200}
	register := func(e *httpapi.Edge) func() {
		return func() {
			httpapi.Register(e, op, func(context.Context, *struct{}) (*outFault, error) { return nil, nil })
		}
	}

	t.Run("and a type without one cannot be registered", func(t *testing.T) {
		t.Parallel()
		require.PanicsWithValue(t, "httpapi: fault.Error has no public name; add it to the Schemas of its domain", register(httpapi.New(httpapi.Options{})))
	})

	t.Run("wherever the Go type is", func(t *testing.T) {
		t.Parallel()
		e := httpapi.New(httpapi.Options{})
		e.Name(httpapi.Schemas{"Oddity": fault.Error{}})
		require.NotPanics(t, register(e))
		e.Seal()
		var d document
		require.NoError(t, json.Unmarshal(e.OpenAPI(), &d))
		require.Contains(t, d.Components.Schemas, "Oddity")
		require.Contains(t, d.Components.Schemas, "FieldError")
	})

	t.Run("which are unique", func(t *testing.T) {
		t.Parallel()
		e := httpapi.New(httpapi.Options{})
		require.PanicsWithValue(t, "httpapi: httpapi.Envelope and fault.Error have the same public name, Error", func() { e.Name(httpapi.Schemas{"Error": fault.Error{}}) })
		require.PanicsWithValue(t, "httpapi: httpapi.Envelope has two public names, Error and Wrong", func() { e.Name(httpapi.Schemas{"Wrong": httpapi.Envelope{}}) })
	})
}

func TestDocument(t *testing.T) {
	t.Parallel()
	d := newKit(t, config()).document(t)

	t.Run("responses are open to new fields, strict requests are closed", func(t *testing.T) {
		t.Parallel()
		require.NotContains(t, d.Components.Schemas["ThingView"], "additionalProperties")
		require.Equal(t, false, d.Components.Schemas["ThingBody"]["additionalProperties"])
		require.NotContains(t, d.Components.Schemas["PatchBody"], "additionalProperties", "an operation that is not strict ignores unknown fields")
	})

	t.Run("an operation's parameters and bodies are validators by name", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []string{"CreateThingParameters", "ThingBody"}, d.Paths["/things"]["post"].Validators)
		require.Equal(t, []string{"ListThingsParameters"}, d.Paths["/things"]["get"].Validators)
		require.Empty(t, d.Paths["/call"]["get"].Validators)
	})

	t.Run("headers are declared where they are sent", func(t *testing.T) {
		t.Parallel()
		created := d.Paths["/things"]["post"].Responses["201"].Headers
		for _, name := range []string{"X-Request-Id", "RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "Idempotent-Replayed", "X-Ignored-Fields"} {
			require.Equal(t, map[string]any{"$ref": "#/components/headers/" + name}, created[name])
			require.Contains(t, d.Components.Headers, name)
		}
		require.NotContains(t, d.Paths["/things"]["get"].Responses["200"].Headers, "Idempotent-Replayed")
		require.NotContains(t, d.Paths["/api/health"]["get"].Responses["200"].Headers, "RateLimit")
		require.Contains(t, d.Components.Responses["Unauthorized"].Headers, "WWW-Authenticate")
		require.Contains(t, d.Components.Responses["RateLimited"].Headers, "Retry-After")
		require.Contains(t, d.Components.Responses["NotFound"].Headers, "X-Request-Id")
	})

	t.Run("a write that may be repeated takes no Idempotency-Key", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "Idempotency-Key", d.Paths["/things"]["post"].Parameters[0].Name)
		require.Empty(t, d.Paths["/again"]["post"].Parameters)
	})

	t.Run("tags are described", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []map[string]string{
			{"name": "Operations", "description": "Health checks and the description of this interface. They need no key."},
			{"name": "Things", "description": "What these tests are about."},
		}, d.Tags)
	})
}

func TestQueryFilters(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	list := func(t *testing.T, query string) (colours []string, broken *bool) {
		t.Helper()
		a := k.do(t, "GET", "/things?"+query, "")
		require.Equal(t, http.StatusOK, a.Status, a.Body)
		var out struct {
			Colour []string `json:"colour"`
			Broken *bool    `json:"broken"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.Body), &out))
		return out.Colour, out.Broken
	}

	t.Run("a repeated parameter has all its values", func(t *testing.T) {
		t.Parallel()
		colours, _ := list(t, "colour=red&colour=blue&colour=red")
		require.Equal(t, []string{"red", "blue"}, colours)
	})

	t.Run("each value is checked", func(t *testing.T) {
		t.Parallel()
		a := k.do(t, "GET", "/things?colour=red&colour=pink", "")
		require.Equal(t, http.StatusBadRequest, a.Status, a.Body)
	})

	t.Run("a number is written in decimal digits", func(t *testing.T) {
		t.Parallel()
		for _, v := range []string{"0", "-1", "1.5", "2e3", "1E-7"} {
			require.Equal(t, http.StatusOK, k.do(t, "GET", "/things?minWeight="+v, "").Status, v)
		}
		for _, v := range []string{"NaN", "inf", "-Infinity", "0x1p-2", "1_000", "", "1.", ".5", "+1"} {
			require.Equal(t, http.StatusBadRequest, k.do(t, "GET", "/things?min_weight="+url.QueryEscape(v), "").Status, v)
		}
	})

	t.Run("false is not the same as nothing", func(t *testing.T) {
		t.Parallel()
		_, none := list(t, "")
		require.Nil(t, none)
		_, no := list(t, "is_broken=false")
		require.NotNil(t, no)
		require.False(t, *no)
		require.Equal(t, http.StatusBadRequest, k.do(t, "GET", "/things?isBroken=perhaps", "").Status)
	})
}

func TestNullIsRefusedWhereAValueIsRequired(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	require.Equal(t, http.StatusOK, k.do(t, "PATCH", "/things/7", `{"note":null}`).Status)
	require.Contains(t, k.do(t, "PATCH", "/things/7", `{"name":"new"}`).Body, `"name":"new"`)
	require.Contains(t, k.do(t, "PATCH", "/things/7", `{}`).Body, `"name":"before"`)
	a := k.do(t, "PATCH", "/things/7", `{"name":null}`)
	require.Equal(t, http.StatusBadRequest, a.Status, a.Body)
	require.Equal(t, []string{"body /name type"}, a.fields())
	a = k.do(t, "PATCH", "/things/7", `{"name":null,"maxCount":"x"}`)
	require.ElementsMatch(t, []string{"body /name type", "body /maxCount type"}, a.fields(), a.Body)
}

func TestCopyingNeedsBothScopes(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	require.Equal(t, http.StatusOK, k.do(t, "POST", "/copy", "").Status)
	a := k.do(t, "POST", "/copy", "", "Authorization: Bearer write")
	require.Equal(t, http.StatusUnauthorized, a.Status, a.Body)
	require.Equal(t, "traces:read", a.Error.Details["requiredScope"])
}

func TestABrowserAtTheRootIsLedToTheReference(t *testing.T) {
	t.Parallel()
	a := newKit(t, config()).do(t, "GET", "/", "", "Authorization: ")
	require.Equal(t, http.StatusSeeOther, a.Status)
	require.Equal(t, "/api/reference", a.Header.Get("Location"))
}
