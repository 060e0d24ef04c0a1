package dataset

import (
	"context"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

const tag = "Datasets"

var routes = resource.Routes{
	One: "dataset", Many: "datasets", Tag: tag, Path: "/api/datasets", Read: principal.EvalRead, Write: principal.EvalWrite,
}

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tag, "Collections of test cases, their items, and frozen versions of them.")
	httpapi.Register(e, routes.List("listDatasets", "Returns datasets, newest first. Filters are combined with AND."), s.getDatasets)
	httpapi.Register(e, routes.Create("createDataset",
		"Creates an active dataset without items. Several datasets may have the same name."), s.postDataset)
	httpapi.Register(e, routes.Get("getDataset", "Returns the dataset without its items."), s.getDataset)
	httpapi.Register(e, routes.Update("updateDataset",
		"Changes the fields that are sent and leaves the others as they are. Set `status` to archive a dataset or to restore it. "+
			"The purpose cannot be changed."), s.patchDataset)
	httpapi.Register(e, routes.Delete("deleteDataset",
		"Deletes the dataset with its items and versions; this cannot be undone. A dataset that a running evaluation uses cannot "+
			"be deleted: 409 `in_use`."), s.deleteDataset)
	s.registerNouns(e)
}

// Path is the path of a dataset. It is exported, like every struct that inputs
// embed, because the framework reads exported fields only.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the dataset."`
}

// dataset is the number behind the path; any other text is the id of no dataset.
func (p Path) dataset() (int64, error) {
	return httpapi.Number(p.ID, ErrNotFound)
}

type listInput struct {
	httpapi.CursorPage
	Status  []Status  `query:"status,explode" doc:"Only datasets with this status. Repeat the parameter to match any of several."`
	Purpose []Purpose `query:"purpose,explode" doc:"Only datasets with this purpose. Repeat the parameter to match any of several."`
	Tag     string    `query:"tag" maxLength:"64" doc:"Only datasets that have this tag."`
	Search  string    `query:"search" maxLength:"200" doc:"Only datasets whose name contains this text, ignoring case."`
	httpapi.Created
}

type createBody struct {
	Name        string         `json:"name" minLength:"1" maxLength:"200" example:"Support questions" doc:"Name; it need not be unique."`
	Description string         `json:"description,omitempty" maxLength:"10000" doc:"What the dataset contains."`
	Purpose     Purpose        `json:"purpose,omitempty" default:"general" doc:"What the dataset is used for; it cannot be changed later."`
	Schema      httpapi.Object `json:"schema,omitempty" doc:"A JSON Schema (draft 2020-12) that every item must match."`
	Tags        httpapi.Tags   `json:"tags,omitempty" doc:"Tags to filter by."`
	Metadata    httpapi.Object `json:"metadata,omitempty" doc:"Free-form object, stored as sent."`
}

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

type updateBody struct {
	Name            httpapi.Set[string]           `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name."`
	Description     httpapi.Patch[string]         `json:"description,omitzero" maxLength:"10000" doc:"New description; null removes it."`
	Status          httpapi.Set[Status]           `json:"status,omitzero" doc:"archived makes the dataset read-only; active restores it."`
	Schema          httpapi.Patch[httpapi.Object] `json:"schema,omitzero" doc:"New JSON Schema for items added or changed from now on; null removes it."`
	Tags            httpapi.Patch[httpapi.Tags]   `json:"tags,omitzero" doc:"New tags, replacing all existing ones; null removes them."`
	Metadata        httpapi.Patch[httpapi.Object] `json:"metadata,omitzero" doc:"New metadata, replacing the existing object; null empties it."`
	ExpectedVersion int64                         `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

// datasetBody is a dataset on the wire.
type datasetBody struct {
	ID                   httpapi.ID                   `json:"id" doc:"Id of the dataset."`
	Name                 string                       `json:"name" doc:"Name."`
	Description          *string                      `json:"description" doc:"What the dataset contains."`
	Purpose              Purpose                      `json:"purpose" doc:"What the dataset is used for."`
	Schema               httpapi.Null[httpapi.Object] `json:"schema" doc:"The JSON Schema that items must match; null if any item is accepted."`
	ItemCount            int64                        `json:"item_count" doc:"Number of items that the dataset has now."`
	ContentDigest        string                       `json:"content_digest" doc:"Digest of the items that the dataset has now; a frozen version with the same digest has the same items."`
	LatestDatasetVersion *int                         `json:"latest_dataset_version" doc:"Number of the newest frozen version; null if none was frozen."`
	Status               Status                       `json:"status" doc:"An archived dataset can be read but not written."`
	Tags                 []string                     `json:"tags" doc:"Tags, in the order given."`
	Metadata             httpapi.Object               `json:"metadata" doc:"Free-form object, as it was sent."`
	CreatedAt            httpapi.Time                 `json:"created_at" doc:"When the dataset was created."`
	UpdatedAt            httpapi.Time                 `json:"updated_at" doc:"When the dataset or its items last changed."`
	Version              int64                        `json:"version" doc:"Counts changes of the dataset itself, not of its items; see If-Match."`
}

// Noun is what documents call it.
func (datasetBody) Noun() string { return "dataset" }

type listBody struct {
	Datasets []datasetBody `json:"datasets" doc:"The datasets of this page, newest first."`
	httpapi.CursorPaging
}

func datasets(log *change.Log) resource.Noun[Dataset, datasetBody] {
	return resource.Noun[Dataset, datasetBody]{
		Routes: routes, Log: log, Missing: ErrNotFound, Cursor: "datasets",
		ID:   func(d Dataset) int64 { return d.ID },
		Show: resource.Each(toDatasetBody),
	}
}

func (s *Service) getDatasets(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	f := Filter{Status: in.Status, Purpose: in.Purpose, Tag: in.Tag, Search: in.Search}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	shown, paging, err := datasets(s.log).Page(ctx, in.CursorPage, func(p postgres.Page) ([]Dataset, int64, error) {
		f.Page = p
		return s.List(ctx, principal.From(ctx).Org, f)
	})
	return httpapi.NewBody(listBody{shown, paging}), err
}

func (s *Service) postDataset(ctx context.Context, in *httpapi.Body[createBody]) (*httpapi.Made[datasetBody], error) {
	return datasets(s.log).Create(ctx, func(tx postgres.Tx) (Dataset, error) {
		b := in.Body
		return s.CreateTx(ctx, tx, Dataset{
			Name: b.Name, Description: b.Description, Purpose: b.Purpose, Schema: b.Schema.Text(),
			Tags: httpapi.OrEmpty(b.Tags), Metadata: b.Metadata.OrEmpty(),
		})
	})
}

func (s *Service) getDataset(ctx context.Context, in *Path) (*httpapi.Output[datasetBody], error) {
	return datasets(s.log).Get(ctx, in.ID, s.Find)
}

func (s *Service) patchDataset(ctx context.Context, in *updateInput) (*httpapi.Output[datasetBody], error) {
	return datasets(s.log).Update(ctx, in.ID, in.IfMatch, in.Body.ExpectedVersion, in.Body.apply, s.UpdateTx)
}

func (s *Service) deleteDataset(ctx context.Context, in *Path) (*httpapi.DeletedOutput[string], error) {
	return datasets(s.log).Delete(ctx, in.ID, s.DeleteTx)
}

// apply makes the sent changes.
func (b updateBody) apply(d *Dataset) {
	b.Name.Apply(&d.Name)
	b.Status.Apply(&d.Status)
	b.Description.Apply(&d.Description)
	if b.Schema.Sent {
		d.Schema = b.Schema.Value.Text()
	}
	if b.Tags.Sent {
		d.Tags = httpapi.OrEmpty(b.Tags.Value)
	}
	if b.Metadata.Sent {
		d.Metadata = b.Metadata.Value.OrEmpty()
	}
}

// Shown is the dataset as getDataset shows it.
func (d Dataset) Shown() any { return toDatasetBody(d) }

// Revision counts changes of the dataset.
func (d Dataset) Revision() int64 { return d.Version }

func toDatasetBody(d Dataset) datasetBody {
	b := datasetBody{
		ID: httpapi.ID(d.ID), Name: d.Name, Description: httpapi.OrNull(d.Description), Purpose: d.Purpose,
		ItemCount: d.ItemCount, ContentDigest: d.ContentDigest.String(), LatestDatasetVersion: httpapi.OrNull(d.LatestVersion), Status: d.Status, Tags: d.Tags, Metadata: httpapi.Object(d.Metadata),
		CreatedAt: httpapi.Time(d.CreatedAt), UpdatedAt: httpapi.Time(d.UpdatedAt), Version: d.Version,
	}
	if schema := httpapi.Object(d.Schema); schema != nil {
		b.Schema = httpapi.NullOf(&schema)
	}
	return b
}
