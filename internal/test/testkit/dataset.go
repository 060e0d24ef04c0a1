package testkit

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Dataset is a dataset as a client sees it. What is null reads as the zero value.
type Dataset struct {
	ID            string         `json:"id,omitzero"`
	Name          string         `json:"name,omitzero"`
	Description   string         `json:"description,omitzero"`
	Purpose       string         `json:"purpose,omitzero"`
	Schema        map[string]any `json:"schema,omitzero"`
	ItemCount     int            `json:"item_count,omitzero"`
	LatestVersion int            `json:"latest_dataset_version,omitzero"`
	Status        string         `json:"status,omitzero"`
	Tags          []string       `json:"tags,omitzero"`
	Metadata      map[string]any `json:"metadata,omitzero"`
	CreatedAt     string         `json:"created_at,omitzero"`
	UpdatedAt     string         `json:"updated_at,omitzero"`
	Version       int            `json:"version,omitzero"`
}

// Item is an item as a client sees it.
type Item struct {
	ID             string   `json:"id,omitzero"`
	Input          any      `json:"input,omitzero"`
	ExpectedOutput any      `json:"expected_output,omitzero"`
	Output         any      `json:"output,omitempty"`
	Context        any      `json:"context,omitempty"`
	Messages       any      `json:"messages,omitempty"`
	Tools          any      `json:"tools,omitempty"`
	Assertions     []any    `json:"assertions,omitzero"`
	Labels         any      `json:"labels,omitzero"`
	Split          *string  `json:"split,omitzero"`
	Weight         *float64 `json:"weight,omitzero"`
	Source         *Source  `json:"source,omitzero"`
	ContentDigest  string   `json:"content_digest,omitzero"`
	CreatedAt      string   `json:"created_at,omitzero"`
	UpdatedAt      string   `json:"updated_at,omitzero"`
	Version        int      `json:"version,omitzero"`
}

// Source is where an item came from.
type Source struct {
	Type string  `json:"type"`
	ID   *string `json:"id,omitzero"`
}

// Import is the answer to an import of items.
type Import struct {
	Created int `json:"created"`
	Items   []struct {
		Index         int    `json:"index"`
		ID            string `json:"id"`
		ContentDigest string `json:"content_digest"`
	} `json:"items"`
	Skipped []struct {
		Index  int    `json:"index"`
		ID     string `json:"id"`
		Reason string `json:"reason"`
	} `json:"skipped"`
	Ignored []string `json:"ignored_fields"`
}

// Bulk is the answer to a change of many items.
type Bulk struct {
	Updated   int      `json:"updated"`
	Unchanged int      `json:"unchanged"`
	Deleted   int      `json:"deleted"`
	Missing   []string `json:"missing"`
}

// ItemPage is a page of items.
type ItemPage struct {
	Items      []Item `json:"items"`
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor"`
	Total      *int   `json:"total"`
}

// Version is a frozen version.
type Version struct {
	ID        string  `json:"id"`
	Version   int     `json:"dataset_version"`
	ItemCount int     `json:"item_count"`
	Digest    string  `json:"digest"`
	Note      *string `json:"note"`
	CreatedAt string  `json:"created_at"`
}

// Dataset makes a dataset; the fields of seed that are empty get a value.
func (c *Client) Dataset(t testing.TB, seed Dataset) Dataset {
	t.Helper()
	if seed.Name == "" {
		seed.Name = "Questions " + random()
	}
	d, err := c.CreateDataset(t.Context(), seed)
	require.NoError(t, err)
	return d
}

// CreateDataset makes a dataset.
func (c *Client) CreateDataset(ctx context.Context, d Dataset, opts ...Option) (out Dataset, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/datasets", d, &out, opts...)
	return out, err
}

// GetDataset reads a dataset.
func (c *Client) GetDataset(ctx context.Context, id string) (out Dataset, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/datasets/"+url.PathEscape(id), nil, &out)
	return out, err
}

// ListDatasets reads a page of datasets and the number of all of them.
func (c *Client) ListDatasets(ctx context.Context, query string) (out []Dataset, total int, err error) {
	var page struct {
		Datasets []Dataset `json:"datasets"`
		Total    int       `json:"total"`
	}
	_, err = c.Call(ctx, http.MethodGet, "/api/datasets?includeTotal=true&"+query, nil, &page)
	return page.Datasets, page.Total, err
}

// UpdateDataset changes the fields of a dataset that patch has.
func (c *Client) UpdateDataset(ctx context.Context, id string, patch map[string]any, opts ...Option) (out Dataset, err error) {
	_, err = c.Call(ctx, http.MethodPatch, "/api/datasets/"+id, patch, &out, opts...)
	return out, err
}

// DeleteDataset deletes a dataset.
func (c *Client) DeleteDataset(ctx context.Context, id string) error {
	_, err := c.Call(ctx, http.MethodDelete, "/api/datasets/"+id, nil, nil)
	return err
}

// AddItems adds items to a dataset.
func (c *Client) AddItems(ctx context.Context, id string, items []Item, opts ...Option) (out Import, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/datasets/"+id+"/items", map[string]any{"items": items}, &out, opts...)
	return out, err
}

// Items reads a page of items.
func (c *Client) Items(ctx context.Context, id, query string) (out ItemPage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/datasets/"+id+"/items?"+query, nil, &out)
	return out, err
}

// GetItem reads an item; version zero is the item as it is now.
func (c *Client) GetItem(ctx context.Context, id, item string, version int) (out Item, err error) {
	path := "/api/datasets/" + id + "/items/" + item
	if version != 0 {
		path += "?datasetVersion=" + strconv.Itoa(version)
	}
	_, err = c.Call(ctx, http.MethodGet, path, nil, &out)
	return out, err
}

// UpdateItem changes the fields of an item that patch has.
func (c *Client) UpdateItem(ctx context.Context, id, item string, patch map[string]any, opts ...Option) (out Item, err error) {
	_, err = c.Call(ctx, http.MethodPatch, "/api/datasets/"+id+"/items/"+item, patch, &out, opts...)
	return out, err
}

// DeleteItem deletes an item.
func (c *Client) DeleteItem(ctx context.Context, id, item string) error {
	_, err := c.Call(ctx, http.MethodDelete, "/api/datasets/"+id+"/items/"+item, nil, nil)
	return err
}

// UpdateItems makes the same change to many items.
func (c *Client) UpdateItems(ctx context.Context, id string, body map[string]any, opts ...Option) (out Bulk, err error) {
	_, err = c.Call(ctx, http.MethodPatch, "/api/datasets/"+id+"/items", body, &out, opts...)
	return out, err
}

// DeleteItems deletes many items.
func (c *Client) DeleteItems(ctx context.Context, id string, items []string, opts ...Option) (out Bulk, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/datasets/"+id+"/items/delete", map[string]any{"itemIds": items}, &out, opts...)
	return out, err
}

// Freeze makes a frozen version.
func (c *Client) Freeze(ctx context.Context, id, note string) (out Version, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/datasets/"+id+"/versions", map[string]any{"note": note}, &out)
	return out, err
}

// GetVersion reads a frozen version.
func (c *Client) GetVersion(ctx context.Context, id string, version int) (out Version, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/datasets/"+id+"/versions/"+strconv.Itoa(version), nil, &out)
	return out, err
}

// Versions lists frozen versions, newest first.
func (c *Client) Versions(ctx context.Context, id string) ([]Version, error) {
	var page struct {
		Versions []Version `json:"versions"`
	}
	_, err := c.Call(ctx, http.MethodGet, "/api/datasets/"+id+"/versions", nil, &page)
	return page.Versions, err
}
