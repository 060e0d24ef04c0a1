package dataset_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestFrozenVersionsNeverChange drives a dataset at random beside a model of
// it. After each step it reads the items and one of the versions that were ever
// frozen, and in the end all of them.
func TestFrozenVersionsNeverChange(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()

	rapid.Check(t, func(rt *rapid.T) {
		d := us.Dataset(t, testkit.NewDataset{})
		current := map[string]string{} // id to input
		var frozen []map[string]string
		var digests []string
		texts := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})

		taken := func(input string) bool {
			return slices.Contains(slices.Collect(maps.Values(current)), input)
		}
		someone := func(rt *rapid.T) string {
			if len(current) == 0 {
				rt.Skip("no items")
			}
			return rapid.SampledFrom(slices.Sorted(maps.Keys(current))).Draw(rt, "item")
		}
		read := func(rt *rapid.T, version int) map[string]string {
			query := "limit=1000&includeTotal=true"
			if version > 0 {
				query += fmt.Sprintf("&datasetVersion=%d", version)
			}
			page, err := us.ListDatasetItems(ctx, d.ID, query)
			require.NoError(rt, err)
			require.EqualValues(rt, len(page.Items), *page.Total)
			out := map[string]string{}
			for _, i := range page.Items {
				out[i.ID], _ = i.Input.(string)
			}
			return out
		}

		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				input := texts.Draw(rt, "input")
				out, err := us.AddItems(ctx, d.ID, []testkit.Item{{Input: input}})
				require.NoError(rt, err)
				if taken(input) {
					require.Zero(rt, out.Created)
					require.Equal(rt, input, current[out.Skipped[0].ID])
					return
				}
				require.NotContains(rt, current, out.Items[0].ID)
				current[out.Items[0].ID] = input
			},
			"update": func(rt *rapid.T) {
				id, input := someone(rt), texts.Draw(rt, "input")
				_, err := us.UpdateDatasetItem(ctx, d.ID, id, map[string]any{"input": input})
				if current[id] != input && taken(input) {
					require.ErrorIs(rt, err, dataset.ErrDuplicate)
					return
				}
				require.NoError(rt, err)
				current[id] = input
			},
			"delete": func(rt *rapid.T) {
				id := someone(rt)
				require.NoError(rt, us.DeleteDatasetItem(ctx, d.ID, id))
				delete(current, id)
			},
			"freeze": func(rt *rapid.T) {
				v, err := us.Freeze(ctx, d.ID, "")
				require.NoError(rt, err)
				frozen = append(frozen, maps.Clone(current))
				digests = append(digests, v.Digest)
				require.EqualValues(rt, len(frozen), v.DatasetVersion)
				require.EqualValues(rt, len(current), v.ItemCount)
			},
			"": func(rt *rapid.T) {
				require.Equal(rt, current, read(rt, 0))
				if len(frozen) > 0 {
					v := rapid.IntRange(1, len(frozen)).Draw(rt, "version to read")
					require.Equal(rt, frozen[v-1], read(rt, v), "version %d", v)
				}
			},
		})
		for i, want := range frozen {
			require.Equal(rt, want, read(rt, i+1), "version %d", i+1)
		}

		// Equal contents have equal digests, and different ones different.
		contents := func(i int) []string { return slices.Sorted(maps.Values(frozen[i])) }
		for i := range frozen {
			for j := range frozen {
				require.Equal(rt, slices.Equal(contents(i), contents(j)), digests[i] == digests[j], "versions %d and %d", i+1, j+1)
			}
		}
		versions, err := us.ListDatasetVersions(ctx, d.ID, "")
		require.NoError(rt, err)
		require.Len(rt, versions.Versions, min(len(frozen), 50))
	})
}
