package dataset_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestPatchOfADataset(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	full := testkit.NewDataset{
		Name: "Name", Description: new("Words"), Tags: []string{"a", "b"}, Metadata: map[string]any{"k": "v"},
		Schema: map[string]any{"type": "object"},
	}

	for name, c := range map[string]struct {
		patch  map[string]any
		change func(*testkit.Dataset)
	}{
		"null clears the description":      {map[string]any{"description": nil}, func(d *testkit.Dataset) { d.Description = nil }},
		"null clears the tags":             {map[string]any{"tags": nil}, func(d *testkit.Dataset) { d.Tags = []string{} }},
		"null clears the metadata":         {map[string]any{"metadata": nil}, func(d *testkit.Dataset) { d.Metadata = map[string]any{} }},
		"null clears the schema":           {map[string]any{"schema": nil}, func(d *testkit.Dataset) { d.Schema = nil }},
		"an empty list clears the tags":    {map[string]any{"tags": []string{}}, func(d *testkit.Dataset) { d.Tags = []string{} }},
		"metadata is replaced, not merged": {map[string]any{"metadata": map[string]any{"n": 1}}, func(d *testkit.Dataset) { d.Metadata = map[string]any{"n": 1.0} }},
		"the rest stays":                   {map[string]any{"name": "Other"}, func(d *testkit.Dataset) { d.Name = "Other" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := us.Dataset(t, full)
			want := before
			c.change(&want)

			got, err := us.UpdateDataset(t.Context(), before.ID, c.patch)

			require.NoError(t, err)
			want.Version, want.UpdatedAt = 2, got.UpdatedAt
			require.Equal(t, want, got)
			read, err := us.GetDataset(t.Context(), before.ID)
			require.NoError(t, err)
			require.Equal(t, got, read, "what is answered is what is stored")
		})
	}

	for name, patch := range map[string]map[string]any{
		"an empty patch changes nothing":           {},
		"a patch to what is there changes nothing": {"name": "Name", "tags": []string{"a", "b"}, "metadata": map[string]any{"k": "v"}},
		"what only responses have is ignored":      {"id": "9", "purpose": "golden", "item_count": 9, "created_at": "then"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := us.Dataset(t, full)
			got, err := us.UpdateDataset(t.Context(), before.ID, patch)
			require.NoError(t, err)
			require.Equal(t, before, got)
		})
	}

	t.Run("no body changes nothing", func(t *testing.T) {
		t.Parallel()
		before := us.Dataset(t, full)
		var got testkit.Dataset
		_, err := us.Call(t.Context(), http.MethodPatch, "/api/datasets/"+before.ID, nil, &got)
		require.NoError(t, err)
		require.Equal(t, before, got)
	})

	t.Run("a name and a status cannot be null", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, full)
		_, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"name": nil, "status": nil, "description": nil})
		require.ElementsMatch(t, []field{{"/name", "type"}, {"/status", "type"}}, fields(t, err))
		after, err := us.GetDataset(t.Context(), d.ID)
		require.NoError(t, err)
		require.Equal(t, d, after)
	})

	t.Run("bounds hold as on creation", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, full)
		for want, patch := range map[field]map[string]any{
			{"/name", "length"}:   {"name": ""},
			{"/tags/0", "length"}: {"tags": []string{""}},
			{"/name", "type"}:     {"name": 5},
		} {
			_, err := us.UpdateDataset(t.Context(), d.ID, patch)
			require.Equal(t, []field{want}, fields(t, err))
		}
		_, err := us.CreateDataset(t.Context(), testkit.NewDataset{Name: "x", Tags: []string{""}})
		require.Equal(t, []field{{"/tags/0", "length"}}, fields(t, err))
	})
}

func TestPatchOfAnItem(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	train, two := "train", 2.0

	item := func(t *testing.T, input any) string {
		t.Helper()
		out, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{
			Input: input, ExpectedOutput: "e", Assertions: []any{"contains"}, Labels: map[string]any{"l": 1}, Split: &train, Weight: &two,
		}})
		require.NoError(t, err)
		return out.Items[0].ID
	}

	t.Run("null clears what an item can be without", func(t *testing.T) {
		t.Parallel()
		id := item(t, "one")
		got, err := us.UpdateDatasetItem(t.Context(), d.ID, id, map[string]any{
			"expectedOutput": nil, "assertions": nil, "labels": nil, "split": nil, "weight": nil,
		})
		require.NoError(t, err)
		want := api.DatasetItem{
			ID: id, Input: "one", Assertions: []any{}, Weight: 1, ContentDigest: got.ContentDigest,
			CreatedAt: got.CreatedAt, UpdatedAt: got.UpdatedAt, Version: 2,
		}
		require.Equal(t, want, got)
		read, err := us.GetDatasetItem(t.Context(), d.ID, id, "")
		require.NoError(t, err)
		require.Equal(t, want, read)
	})

	t.Run("an item is never without its input", func(t *testing.T) {
		t.Parallel()
		id := item(t, "two")
		before, err := us.GetDatasetItem(t.Context(), d.ID, id, "")
		require.NoError(t, err)
		_, err = us.UpdateDatasetItem(t.Context(), d.ID, id, map[string]any{"input": nil, "expectedOutput": "other"})
		require.Equal(t, []field{{"/input", "type"}}, fields(t, err))
		after, err := us.GetDatasetItem(t.Context(), d.ID, id, "")
		require.NoError(t, err)
		require.Equal(t, before, after)
	})

	t.Run("an item that was read can be sent back and changes nothing", func(t *testing.T) {
		t.Parallel()
		id := item(t, "four")
		var read, got map[string]any
		_, err := us.Call(t.Context(), http.MethodGet, "/api/datasets/"+d.ID+"/items/"+id, nil, &read)
		require.NoError(t, err)
		_, err = us.Call(t.Context(), http.MethodPatch, "/api/datasets/"+d.ID+"/items/"+id, read, &got)
		require.NoError(t, err)
		require.Equal(t, read, got)
	})

	t.Run("a value of any type is kept as it is", func(t *testing.T) {
		t.Parallel()
		id := item(t, "three")
		for _, input := range []any{false, 0.0, "", []any{}, map[string]any{"Deep-Name": []any{nil, true}}} {
			got, err := us.UpdateDatasetItem(t.Context(), d.ID, id, map[string]any{"input": input, "expectedOutput": input})
			require.NoError(t, err)
			require.Equal(t, input, got.Input)
			require.Equal(t, input, got.ExpectedOutput)
		}
	})
}
