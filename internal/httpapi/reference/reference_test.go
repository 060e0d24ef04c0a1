package reference_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/reference"
)

func sampleDocument(t *testing.T) []byte {
	t.Helper()
	document, err := os.ReadFile("testdata/reference.json")
	require.NoError(t, err)
	return document
}

func renderPage(t *testing.T, document []byte) string {
	t.Helper()
	page, err := reference.Render(document)
	require.NoError(t, err)
	return string(page)
}

// oneOperation is a document with one operation that takes and returns the
// given schema, which can refer to itself as Thing.
func oneOperation(schema string) []byte {
	return []byte(`{"openapi":"3.1.0","info":{"title":"T","version":"1"},"paths":{"/things":{"post":{"operationId":"makeThing",
		"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}},
		"responses":{"201":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}}}}}},
		"components":{"schemas":{"Thing":` + schema + `}}}`)
}

func TestReferenceShowsEveryOperationOnce(t *testing.T) {
	t.Parallel()
	document := sampleDocument(t)
	page := renderPage(t, document)
	var doc struct {
		Paths map[string]map[string]struct {
			ID string `json:"operationId"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(document, &doc))
	count := 0
	for _, item := range doc.Paths {
		for _, op := range item {
			count++
			require.Equal(t, 1, strings.Count(page, `<article class="op split" id="`+op.ID+`"`), op.ID)
			require.Contains(t, page, `href="#`+op.ID+`"`)
		}
	}
	require.Positive(t, count)
	require.Equal(t, count, strings.Count(page, "<article "))
}

func TestReferenceIsServed(t *testing.T) {
	t.Parallel()
	edge := httpapi.New(httpapi.Options{Reference: reference.Render})
	edge.Seal()
	w := httptest.NewRecorder()
	edge.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/reference", nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
	require.Equal(t, renderPage(t, edge.OpenAPI()), w.Body.String())
}

func TestReferenceAnchorsLeadSomewhere(t *testing.T) {
	t.Parallel()
	page := renderPage(t, sampleDocument(t))
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.False(t, ids[m[1]], "id %s is given twice", m[1])
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.True(t, ids[strings.TrimPrefix(m[1], "#")], "href %s leads nowhere", m[1])
	}
}

func TestReferenceNeedsNothingButItself(t *testing.T) {
	t.Parallel()
	page := strings.ToLower(renderPage(t, sampleDocument(t)))
	for _, banned := range []string{"<script", "<link", "<img", "<iframe", "@import", "url(", " src=", `href="http`, `href="//`, "javascript:"} {
		require.NotContains(t, page, banned)
	}
	require.NotRegexp(t, `<[^>]* on[a-z]+=`, page)
}

func TestReferenceIsDeterministic(t *testing.T) {
	t.Parallel()
	first := renderPage(t, sampleDocument(t))
	for range 20 {
		require.Equal(t, first, renderPage(t, sampleDocument(t)))
	}
}

func TestReferenceEscapesHostileText(t *testing.T) {
	t.Parallel()
	const hostile = `</code><script>alert(1)</script><img src=x onerror=alert(1)>`
	document := bytes.ReplaceAll(sampleDocument(t), []byte("List datasets"), []byte(hostile))
	document = bytes.ReplaceAll(document, []byte("Newest first."), []byte("`"+hostile+"` "+hostile))
	document = bytes.ReplaceAll(document, []byte("Support questions"), []byte(hostile))
	document = bytes.ReplaceAll(document, []byte("getDataset\""), []byte("x onclick=alert(1) <script>\""))
	page := renderPage(t, document)
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "<img")
	require.Contains(t, page, "&lt;script&gt;alert(1)")
	require.NotRegexp(t, `<[a-z][^>"]* onclick=`, page)
}

func TestReferenceEndsRecursion(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"itself":    `{"$ref":"#/components/schemas/Thing"}`,
		"member":    `{"type":"object","required":["inner"],"properties":{"inner":{"$ref":"#/components/schemas/Thing"}}}`,
		"elements":  `{"type":"array","items":{"$ref":"#/components/schemas/Thing"}}`,
		"form":      `{"oneOf":[{"$ref":"#/components/schemas/Thing"},{"type":"object","properties":{"all":{"type":"array","items":{"$ref":"#/components/schemas/Thing"}}}}]}`,
		"any name":  `{"type":"object","additionalProperties":{"$ref":"#/components/schemas/Thing"}}`,
		"dangling":  `{"$ref":"#/components/schemas/Nothing"}`,
		"free-form": `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, renderPage(t, oneOperation(schema)), `id="makeThing"`)
		})
	}
}

func TestReferenceWritesRequestsThatWork(t *testing.T) {
	t.Parallel()
	page := renderPage(t, sampleDocument(t))
	for _, want := range []string{
		`curl &#34;https://assay.example.com/api/v1/datasets&#34; \`,
		`-H &#34;Authorization: Bearer $SERVICE_API_KEY&#34;`,
		"curl &#34;https://assay.example.com/api/v1/datasets/$DATASET_ID&#34; \\\n  -X DELETE \\\n",
		"/splits?dryRun=true&#34;",
		"-d &#39;{\n    &#34;name&#34;: &#34;Support questions&#34;\n  }&#39;",
	} {
		require.Contains(t, page, want)
	}
	health := page[strings.Index(page, `<article class="op split" id="getHealth"`):]
	health = health[:strings.Index(health, "</article>")]
	require.NotContains(t, health, "Authorization", "a public operation needs no key")

	quoted := renderPage(t, oneOperation(`{"type":"object","required":["name"],"properties":{"name":{"type":"string","examples":["it's; $(reboot)"]}}}`))
	require.Contains(t, quoted, `it&#39;\&#39;&#39;s; $(reboot)`)
}

func TestReferenceDescribesSchemas(t *testing.T) {
	t.Parallel()
	page := renderPage(t, sampleDocument(t))
	for _, want := range []string{
		"1 to 200 characters", "1 to 1000", "greater than 0", "array of object", "string or null", "string or integer",
		"Field condition", "no entry twice", "any name", "A nested <code>Dataset</code>, not expanded further.",
		"<span>one of <code>active</code> <code>archived</code> <code>all</code></span>", "<span>default <code>50</code></span>",
		"Scope <code>eval:write</code>", "No key needed", "Any key", "VALIDATION_ERROR",
	} {
		require.Contains(t, page, want)
	}
}

func TestReferenceRefusesWhatItCannotShow(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"no json":      `{`,
		"no operation": `{"paths":{"/a":{"get":[]}}}`,
		"no id":        `{"paths":{"/a":{"get":{}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := reference.Render([]byte(document))
			require.Error(t, err)
		})
	}
}
