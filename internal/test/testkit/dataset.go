package testkit

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
)

type (
	// Dataset is a dataset.
	Dataset = api.Dataset
	// NewDataset is a dataset to make.
	NewDataset = api.CreateDataset
	// Item is an item to add to a dataset.
	Item = api.DatasetItemInput
	// Source is where an item to add comes from.
	Source = api.DatasetItemSourceInput
	// Import is the answer to an import of items.
	Import = api.AddedDatasetItems
	// ItemPage is a page of items.
	ItemPage = api.DatasetItemList
)

// Dataset makes a dataset, which gets a name if it has none.
func (c *Client) Dataset(t testing.TB, seed NewDataset) Dataset {
	t.Helper()
	if seed.Name == "" {
		seed.Name = "Questions " + random()
	}
	d, err := c.CreateDataset(t.Context(), seed)
	require.NoError(t, err)
	return d
}

// AddItems adds items to a dataset.
func (c *Client) AddItems(ctx context.Context, dataset string, items []Item, opts ...Option) (Import, error) {
	return c.AddDatasetItems(ctx, dataset, map[string]any{"items": items}, opts...)
}

// Freeze makes a frozen version.
func (c *Client) Freeze(ctx context.Context, dataset, note string) (api.DatasetVersion, error) {
	return c.FreezeDatasetVersion(ctx, dataset, map[string]any{"note": note})
}
