package review_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

func connector(state, trust, tools string) kind.Values {
	return kind.Values{"state": kind.TextValue(state), "trust_level": kind.TextValue(trust), "tools": jsontext.Value(tools)}
}

func TestAReportNeverMakesAToolHarmless(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"registered", "under_review", "approved", "blocked"} {
		for _, trust := range []string{"untrusted", "reviewed", "trusted"} {
			for _, said := range []string{"none", "read"} {
				before := connector(state, trust, `[{"name":"old","side_effect_class":"transact"}]`)
				after := review.Classes(before, connector("", "", `[{"name":"old","side_effect_class":"`+said+`"},{"name":"new","side_effect_class":"`+said+`","reversibility":"reversible"}]`))
				require.JSONEq(t, `[{"name":"new","side_effect_class":"unknown"},{"name":"old","side_effect_class":"transact"}]`, string(after), "%s %s %s", state, trust, said)
			}
		}
	}
}

func TestAPageThatChangesAToolIsDrift(t *testing.T) {
	t.Parallel()
	before := connector("approved", "reviewed", `[{"name":"a","side_effect_class":"read"}]`)
	require.True(t, review.Drifted(before, func() kind.Values {
		after := connector("approved", "reviewed", `[{"name":"a","side_effect_class":"read"}]`)
		after["attributes"] = jsontext.Value(`{"manifest_pages":true}`)
		return after
	}()), "a list that becomes pages hides what is gone")
	before["attributes"] = jsontext.Value(`{"manifest_pages":true}`)
	page := func(tools string) kind.Values {
		after := connector("approved", "reviewed", "[]")
		for name, value := range review.Kept(before, kind.Values{"tools": jsontext.Value(tools), "attributes": jsontext.Value(`{"manifest_pages":true}`)}) {
			after[name] = value
		}
		return after
	}
	require.False(t, review.Drifted(before, page(`[{"name":"b"}]`)), "a tool that is unknown grants nothing")
	require.False(t, review.Drifted(before, page(`[{"name":"a","side_effect_class":"delete"}]`)), "what people said about it stays")
	require.True(t, review.Drifted(before, page(`[{"name":"a","compensation_tool":"other"}]`)))
}

// TestPagesAddUpToAsManyAsOneReport shows that a server cannot make its connector ever larger.
func TestPagesAddUpToAsManyAsOneReport(t *testing.T) {
	t.Parallel()
	paged := jsontext.Value(`{"manifest_pages":true}`)
	known := kind.Values{"attributes": paged}
	for page := range 5 {
		var tools []string
		for i := range 300 {
			tools = append(tools, fmt.Sprintf(`{"name":"%d-%d"}`, page, i))
		}
		known = review.Kept(known, kind.Values{"attributes": paged, "tools": jsontext.Value("[" + strings.Join(tools, ",") + "]")})
	}
	var tools []kind.Values
	require.NoError(t, json.Unmarshal(known["tools"], &tools))
	require.Len(t, tools, 1000)
	names := map[string]bool{}
	for _, tool := range tools {
		names[tool.Text("name")] = true
	}
	require.Len(t, names, 1000)
	require.True(t, names["0-299"] && names["2-299"], "those that were known stay")
}

func TestWhatPeopleSayAboutToolsIsNotDrift(t *testing.T) {
	t.Parallel()
	const said = `[{"name":"b","open_world":true},{"name":"a","annotations":{"read_only":true}}]`
	before := connector("approved", "reviewed", string(review.Classes(nil, connector("", "", said))))
	before["tools"] = review.Edited(before, connector("", "", `[{"name":"b","side_effect_class":"transact","compensation_tool":"undo"}]`))
	after := connector("approved", "reviewed", "[]")
	for name, value := range review.Kept(before, kind.Values{"tools": jsontext.Value(said)}) {
		after[name] = value
	}
	require.JSONEq(t, string(before["tools"]), string(after["tools"]))
	require.False(t, review.Drifted(before, after))
}

func TestACallHasTheClassThatIsBelieved(t *testing.T) {
	t.Parallel()
	call := kind.Values{"tool_name": kind.TextValue("a"), "annotations": jsontext.Value(`{"read_only":true}`)}
	for _, c := range []struct{ trust, tools, want string }{
		{"reviewed", `[{"name":"a","side_effect_class":"transact"}]`, "transact"},
		{"reviewed", `[{"name":"a","side_effect_class":"read"}]`, "read"},
		{"untrusted", `[{"name":"a","side_effect_class":"read"}]`, "delete"},
		{"untrusted", `[{"name":"a","side_effect_class":"create"}]`, "create"},
		{"reviewed", `[]`, "read"},
		{"untrusted", `[]`, "delete"},
	} {
		require.Equal(t, c.want, review.Class(call, connector("approved", c.trust, c.tools)), "%+v", c)
	}
	require.Equal(t, "unknown", review.Class(kind.Values{"tool_name": kind.TextValue("a")}, nil))
}
