package rls_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

// bare answers the two measured operations as the product does, with the
// product's own statements, but through a plain pool: no claim is sent.
type bare struct {
	pool       *pgxpool.Pool
	find, list string
}

// Path is exported because the framework reads embedded structs that are.
type Path struct {
	ID string `path:"id" maxLength:"32"`
}

const itemCursor = httpapi.IDCursor("dataset items")

type listInput struct {
	Path
	httpapi.CursorPage
	DatasetVersion int `query:"datasetVersion" minimum:"1" maximum:"2147483647"`
}

type datasetOutput struct {
	ETag string `header:"ETag"`
	Body datasetBody
}

type datasetBody struct {
	ID                   httpapi.ID                   `json:"id"`
	Name                 string                       `json:"name"`
	Description          *string                      `json:"description"`
	Purpose              string                       `json:"purpose"`
	Schema               httpapi.Null[httpapi.Object] `json:"schema"`
	ItemCount            int64                        `json:"item_count"`
	ContentDigest        string                       `json:"content_digest"`
	LatestDatasetVersion *int                         `json:"latest_dataset_version"`
	Status               string                       `json:"status"`
	Tags                 []string                     `json:"tags"`
	Metadata             httpapi.Object               `json:"metadata"`
	CreatedAt            httpapi.Time                 `json:"created_at"`
	UpdatedAt            httpapi.Time                 `json:"updated_at"`
	Version              int64                        `json:"version"`
}

type itemsOutput struct {
	Body itemsBody
}

type itemsBody struct {
	Items []itemBody `json:"items"`
	httpapi.CursorPaging
}

type itemBody struct {
	ID             httpapi.ID               `json:"id"`
	Input          httpapi.JSON             `json:"input"`
	ExpectedOutput httpapi.JSON             `json:"expected_output"`
	Output         httpapi.JSON             `json:"output"`
	Context        httpapi.JSON             `json:"context"`
	Messages       httpapi.JSON             `json:"messages"`
	Tools          httpapi.JSON             `json:"tools"`
	Assertions     []httpapi.JSON           `json:"assertions"`
	Labels         httpapi.JSON             `json:"labels"`
	Split          *string                  `json:"split"`
	Weight         float64                  `json:"weight"`
	Source         httpapi.Null[sourceBody] `json:"source"`
	ContentDigest  string                   `json:"content_digest"`
	CreatedAt      httpapi.Time             `json:"created_at"`
	UpdatedAt      httpapi.Time             `json:"updated_at"`
	Version        int64                    `json:"version"`
}

type sourceBody struct {
	Type string  `json:"type"`
	ID   *string `json:"id"`
}

// newBare connects to the kit's database as the product does and builds an
// edge like the product's.
func newBare(t testing.TB, k *testkit.Kit) *httpapi.Edge {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(k.App.Config.Postgres.URL.Reveal())
	require.NoError(t, err)
	cfg.MaxConns = int32(k.App.Config.Postgres.MaxConns)
	cfg.ConnConfig.Tracer = otelpgx.NewTracer(otelpgx.WithDisableConnectionDetailsInAttributes())
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	b := &bare{pool: pool}
	b.find = statement(t, "FindDataset", "org_id", "id")
	b.list = statement(t, "ListItems", "org_id", "dataset_id", "below", "row_limit", "row_offset", "one_more", "max_bytes")

	people := k.App.Tenancy
	e := httpapi.New(httpapi.Options{
		Config: k.App.Config.HTTP, Authenticate: people.Authenticate, ActFor: people.ActFor,
		Limit: func(ctx context.Context, c principal.Caller) (httpapi.Quota, error) {
			d, err := people.Spend(ctx, c)
			return httpapi.Quota{
				Allowed: d.Allowed, Limit: d.Limit, Remaining: d.Remaining, Reset: d.ResetAfter, Retry: d.RetryAfter, Window: time.Hour,
			}, err
		},
		Observe: func(o httpapi.Outcome) {
			people.Meter(tenancy.Request{
				Org: o.Caller.Org, KeyID: o.Caller.KeyID, Operation: o.Operation, Status: o.Status, Took: o.Took, At: o.At,
			})
		},
	})
	httpapi.Register(e, httpapi.Op{ID: "getDataset", Method: http.MethodGet, Path: "/api/datasets/{id}", Tag: "Bench", Scope: principal.EvalRead, Status: 200}, b.getDataset)
	httpapi.Register(e, httpapi.Op{ID: "listDatasetItems", Method: http.MethodGet, Path: "/api/datasets/{id}/items", Tag: "Bench", Scope: principal.EvalRead, Status: 200}, b.getItems)
	return e
}

// statement is a query of the product with its arguments numbered in the order
// given.
func statement(t testing.TB, name string, args ...string) string {
	t.Helper()
	root, err := devenv.Root()
	require.NoError(t, err)
	file, err := os.ReadFile(filepath.Join(root, "internal", "dataset", "store.sql"))
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(file), "-- name: "+name+" ")
	require.True(t, ok, name)
	_, after, _ = strings.Cut(after, "\n")
	for strings.HasPrefix(after, "--") {
		_, after, _ = strings.Cut(after, "\n")
	}
	text, _, _ := strings.Cut(after, ";")
	return regexp.MustCompile(`@\w+`).ReplaceAllStringFunc(text, func(arg string) string {
		i := slices.Index(args, arg[1:])
		require.GreaterOrEqual(t, i, 0, "%s takes %s", name, arg)
		return "$" + strconv.Itoa(i+1)
	})
}

func (b *bare) dataset(ctx context.Context, org principal.OrgID, text string) (datasetBody, error) {
	var d datasetBody
	id, ok := httpapi.ParseID(text)
	if !ok {
		return d, dataset.ErrNotFound
	}
	var created, updated time.Time
	var schema, metadata jsontext.Value
	var number int64
	var description string
	var latest int
	var content []byte
	// The columns of the table, in its order; those that nobody is shown are left out.
	err := b.pool.QueryRow(ctx, b.find, org, id).Scan(nil, &number, &d.Name, &description, &d.Purpose, &schema, &d.Status,
		&d.Tags, &metadata, &d.ItemCount, &latest, nil, &d.Version, &created, &updated, nil, &content)
	d.ID, d.Description, d.LatestDatasetVersion = httpapi.ID(number), httpapi.OrNull(description), httpapi.OrNull(latest)
	if s := httpapi.Object(schema); s != nil {
		d.Schema = httpapi.NullOf(&s)
	}
	d.Metadata, d.ContentDigest = httpapi.Object(metadata), dataset.Digest(content).String()
	d.CreatedAt, d.UpdatedAt = httpapi.Time(created), httpapi.Time(updated)
	return d, err
}

func (b *bare) getDataset(ctx context.Context, in *Path) (*datasetOutput, error) {
	d, err := b.dataset(ctx, principal.From(ctx).Org, in.ID)
	return &datasetOutput{ETag: httpapi.ETag(d.Version), Body: d}, err
}

func (b *bare) getItems(ctx context.Context, in *listInput) (*itemsOutput, error) {
	org := principal.From(ctx).Org
	below, err := itemCursor.Below(in.Cursor)
	if err != nil {
		return nil, err
	}
	d, err := b.dataset(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	rows, err := b.pool.Query(ctx, b.list, org, int64(d.ID), below, int32(in.Limit+1), int32(in.Offset), int32(in.Limit+1), int64(dataset.PageBytes))
	if err != nil {
		return nil, err
	}
	items, err := pgx.CollectRows(rows, scanItem)
	if err != nil {
		return nil, err
	}
	var out itemsOutput
	out.Body.Items, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, items, 0, func(i itemBody) string { return itemCursor.Text(int64(i.ID)) })
	return &out, nil
}

func scanItem(row pgx.CollectableRow) (itemBody, error) {
	var i itemBody
	var id int64
	var from int32
	var digest, text []byte
	var sourceType, sourceID *string
	var created time.Time
	var updated *time.Time
	var more bool
	if err := row.Scan(&id, &from, &digest, &text, &i.Split, &i.Weight, &sourceType, &sourceID, &created, &updated, &i.Version, &more); err != nil {
		return i, err
	}
	if updated == nil {
		updated = &created
	}
	if sourceType != nil {
		i.Source = httpapi.NullOf(&sourceBody{Type: *sourceType, ID: sourceID})
	}
	var c dataset.Content
	if err := json.Unmarshal(text, &c); err != nil {
		return i, err
	}
	i.ID, i.CreatedAt, i.UpdatedAt, i.ContentDigest = httpapi.ID(id), httpapi.Time(created), httpapi.Time(*updated), dataset.Digest(digest).String()
	i.Input, i.ExpectedOutput, i.Output, i.Context = httpapi.JSON(c.Input), httpapi.JSON(c.ExpectedOutput), httpapi.JSON(c.Output), httpapi.JSON(c.Context)
	i.Messages, i.Tools, i.Labels = httpapi.JSON(c.Messages), httpapi.JSON(c.Tools), httpapi.JSON(c.Labels)
	i.Assertions = make([]httpapi.JSON, len(c.Assertions))
	for n, a := range c.Assertions {
		i.Assertions[n] = httpapi.JSON(a)
	}
	return i, nil
}
