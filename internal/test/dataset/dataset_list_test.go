package dataset_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestListOfDatasets(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its cases run side by side while the clock moves")
	us := k.Org(t)
	ctx := t.Context()

	// A small world, newest last; the list has it newest first.
	var world []testkit.Dataset
	for i, seed := range []testkit.NewDataset{
		{Name: "Support questions", Purpose: new("general"), Tags: []string{"support", "en"}},
		{Name: "support ANSWERS", Purpose: new("regression"), Tags: []string{"support"}},
		{Name: "100% \\ under_score", Purpose: new("calibration")},
		{Name: "Ünïcode", Purpose: new("golden"), Tags: []string{"en"}},
		{Name: "Archive", Purpose: new("general")},
	} {
		k.Clock.Advance(time.Hour)
		d := us.Dataset(t, seed)
		if i == 4 {
			var err error
			d, err = us.UpdateDataset(ctx, d.ID, map[string]any{"status": "archived"})
			require.NoError(t, err)
		}
		world = append([]testkit.Dataset{d}, world...)
	}
	k.Org(t).Dataset(t, testkit.NewDataset{Name: "Support of another organization"})

	middle := world[2].CreatedAt
	escaped := url.QueryEscape(middle.Format(time.RFC3339Nano))
	filters := map[string]struct {
		query string
		keep  func(testkit.Dataset) bool
	}{
		"everything":          {"", func(testkit.Dataset) bool { return true }},
		"a status":            {"status=archived", func(d testkit.Dataset) bool { return d.Status == "archived" }},
		"a purpose":           {"purpose=general", func(d testkit.Dataset) bool { return d.Purpose == "general" }},
		"several statuses":    {"status=active&status=archived", func(testkit.Dataset) bool { return true }},
		"several purposes":    {"purpose=golden&purpose=regression", func(d testkit.Dataset) bool { return d.Purpose == "golden" || d.Purpose == "regression" }},
		"a tag":               {"tag=en", func(d testkit.Dataset) bool { return slices.Contains(d.Tags, "en") }},
		"part of a tag":       {"tag=e", func(testkit.Dataset) bool { return false }},
		"part of a name":      {"search=SUPPORT", func(d testkit.Dataset) bool { return strings.Contains(strings.ToLower(d.Name), "support") }},
		"a percent sign":      {"search=" + url.QueryEscape("%"), func(d testkit.Dataset) bool { return strings.Contains(d.Name, "%") }},
		"an underscore":       {"search=_", func(d testkit.Dataset) bool { return strings.Contains(d.Name, "_") }},
		"a backslash":         {"search=" + url.QueryEscape("\\"), func(d testkit.Dataset) bool { return strings.Contains(d.Name, "\\") }},
		"letters beyond a-z":  {"search=" + url.QueryEscape("üNÏ"), func(d testkit.Dataset) bool { return strings.HasPrefix(d.Name, "Ü") }},
		"what came after":     {"createdAfter=" + escaped, func(d testkit.Dataset) bool { return d.CreatedAt.After(middle) }},
		"what came before":    {"createdBefore=" + escaped, func(d testkit.Dataset) bool { return d.CreatedAt.Before(middle) }},
		"several at once":     {"purpose=general&status=active&tag=support", func(d testkit.Dataset) bool { return d.Name == "Support questions" }},
		"what matches nobody": {"tag=none&search=none", func(testkit.Dataset) bool { return false }},
	}
	for name, f := range filters {
		t.Run("filters by "+name, func(t *testing.T) {
			t.Parallel()
			var want []testkit.Dataset
			for _, d := range world {
				if f.keep(d) {
					want = append(want, d)
				}
			}
			got, err := us.ListDatasets(t.Context(), "includeTotal=true&"+f.query)
			require.NoError(t, err)
			require.EqualValues(t, len(want), api.Value(got.Total))
			require.Len(t, got.Datasets, len(want))
			for i := range want {
				require.Equal(t, want[i], got.Datasets[i])
			}
		})
	}

	t.Run("pages add up to the whole", func(t *testing.T) {
		t.Parallel()
		for limit := 1; limit <= len(world)+1; limit++ {
			var got []testkit.Dataset
			for offset := 0; offset <= len(world); offset += limit {
				page, err := us.ListDatasets(t.Context(), fmt.Sprintf("includeTotal=true&limit=%d&offset=%d", limit, offset))
				require.NoError(t, err)
				require.EqualValues(t, len(world), api.Value(page.Total))
				got = append(got, page.Datasets...)
			}
			require.Equal(t, world, got)
		}
	})

	t.Run("bounds of pages are checked", func(t *testing.T) {
		t.Parallel()
		for query, want := range map[string]field{
			"limit=0": {"limit", "min"}, "limit=1001": {"limit", "max"}, "offset=-1": {"offset", "min"}, "status=gone": {"status", "enum"},
		} {
			_, err := us.ListDatasets(t.Context(), "includeTotal=true&"+query)
			require.Equal(t, []field{want}, fields(t, err), query)
		}
	})
}

// TestPagesOfItems walks random datasets in pages of random size while other
// items come in.
func TestPagesOfItems(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	newest := func(added testkit.Import) []string {
		var out []string
		for _, i := range added.Items {
			out = append(out, i.ID)
		}
		slices.Reverse(out)
		return out
	}

	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(rt, "items")
		limit := rapid.IntRange(1, 12).Draw(rt, "limit")
		d := us.Dataset(t, testkit.NewDataset{})
		var whole []string
		if n > 0 {
			added, err := us.AddItems(ctx, d.ID, questions(n))
			require.NoError(rt, err)
			whole = newest(added)
		}
		_, err := us.Freeze(ctx, d.ID, "")
		require.NoError(rt, err)

		var byOffset []string
		for offset := 0; ; offset += limit {
			page, err := us.ListDatasetItems(ctx, d.ID, fmt.Sprintf("limit=%d&offset=%d&includeTotal=true", limit, offset))
			require.NoError(rt, err)
			require.EqualValues(rt, n, *page.Total)
			require.Equal(rt, offset+len(page.Items) < n, page.HasMore)
			byOffset = append(byOffset, ids(page)...)
			if !page.HasMore {
				break
			}
		}
		require.Equal(rt, whole, byOffset)

		// Meanwhile items come in: a walk by cursor sees each item that was
		// there once, and none twice.
		var byCursor, ofVersion []string
		for cursor, more := "", true; more; {
			page, err := us.ListDatasetItems(ctx, d.ID, "limit="+strconv.Itoa(limit)+"&cursor="+cursor)
			require.NoError(rt, err)
			byCursor = append(byCursor, ids(page)...)
			cursor, more = api.Value(page.NextCursor), page.HasMore
			if rapid.Bool().Draw(rt, "an item comes in") {
				_, err := us.AddItems(ctx, d.ID, []testkit.Item{{Input: fmt.Sprintf("late %d", len(byCursor))}})
				require.NoError(rt, err)
			}
		}
		require.Equal(rt, whole, byCursor)

		for cursor, more := "", true; more; {
			page, err := us.ListDatasetItems(ctx, d.ID, "datasetVersion=1&limit="+strconv.Itoa(limit)+"&cursor="+cursor)
			require.NoError(rt, err)
			ofVersion = append(ofVersion, ids(page)...)
			cursor, more = api.Value(page.NextCursor), page.HasMore
		}
		require.Equal(rt, whole, ofVersion)
	})
}

func TestCursor(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	for query, want := range map[string][]field{
		"cursor=rubbish":          {{"cursor", "format"}},
		"cursor=AAAA":             {{"cursor", "format"}},
		"cursor=rubbish&offset=1": {{"cursor", "mutually_exclusive"}},
		"offset=100001":           {{"offset", "max"}},
	} {
		_, err := us.ListDatasetItems(t.Context(), d.ID, query)
		require.Equal(t, want, fields(t, err), query)
	}
}
