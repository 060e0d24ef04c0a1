package dataset

import (
	"context"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

const tag = "Datasets"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "listDatasets", Method: http.MethodGet, Path: "/api/datasets", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "List datasets",
	}, s.getDatasets)
	httpapi.Register(e, httpapi.Op{
		ID: "createDataset", Method: http.MethodPost, Path: "/api/datasets", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		Summary: "Create a dataset",
	}, s.postDataset)
	httpapi.Register(e, httpapi.Op{
		ID: "getDataset", Method: http.MethodGet, Path: "/api/datasets/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Get a dataset",
	}, s.getDataset)
	httpapi.Register(e, httpapi.Op{
		ID: "updateDataset", Method: http.MethodPatch, Path: "/api/datasets/{id}", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true,
		Summary:     "Update a dataset",
		Description: "Fields that are absent stay as they are; null clears a field. `status` archives and restores.",
	}, s.patchDataset)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteDataset", Method: http.MethodDelete, Path: "/api/datasets/{id}", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Delete a dataset",
		Description: "A dataset that a running evaluation uses cannot be deleted: 409 `in_use`.",
	}, s.deleteDataset)
	s.registerItems(e)
	s.registerVersions(e)
}

// Path is the path of a dataset. It is exported, like every struct that inputs
// embed, because the framework reads exported fields only.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The dataset."`
}

// dataset is the number behind the path; a text that is no number names no
// dataset.
func (p Path) dataset() (int64, error) {
	id, ok := httpapi.ParseID(p.ID)
	if !ok {
		return 0, ErrNotFound
	}
	return id, nil
}

type listInput struct {
	httpapi.Page
	Status  string `query:"status" enum:"active,archived"`
	Purpose string `query:"purpose" enum:"general,golden,calibration,regression"`
	Tag     string `query:"tag" maxLength:"64"`
	Search  string `query:"search" maxLength:"200" doc:"Part of the name, in any case."`
	httpapi.Created
}

type createInput struct {
	Body createBody
}

type createBody struct {
	Name        string      `json:"name" minLength:"1" maxLength:"200" example:"Support questions"`
	Description string      `json:"description,omitempty" maxLength:"10000"`
	Purpose     Purpose     `json:"purpose,omitempty" enum:"general,golden,calibration,regression" default:"general"`
	Schema      httpapi.Map `json:"schema,omitempty" doc:"A JSON Schema (draft 2020-12) that every item must satisfy."`
	Tags        tagList     `json:"tags,omitempty" doc:"Labels to filter by."`
	Metadata    httpapi.Map `json:"metadata,omitempty" doc:"Free-form; names are kept as sent."`
}

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

type updateBody struct {
	Name            httpapi.Patch[nameText]    `json:"name,omitzero"`
	Description     httpapi.Patch[longText]    `json:"description,omitzero"`
	Status          httpapi.Patch[statusText]  `json:"status,omitzero"`
	Schema          httpapi.Patch[httpapi.Map] `json:"schema,omitzero"`
	Tags            httpapi.Patch[tagList]     `json:"tags,omitzero"`
	Metadata        httpapi.Patch[httpapi.Map] `json:"metadata,omitzero"`
	ExpectedVersion int64                      `json:"expectedVersion,omitzero" minimum:"1" doc:"Like If-Match: the version that the change is meant for."`
}

// datasetBody is a dataset on the wire.
type datasetBody struct {
	ID            httpapi.ID   `json:"id"`
	Name          string       `json:"name"`
	Description   string       `json:"description"`
	Purpose       Purpose      `json:"purpose" enum:"general,golden,calibration,regression"`
	Schema        httpapi.JSON `json:"schema,omitzero" doc:"The JSON Schema of the items, if there is one."`
	ItemCount     int64        `json:"item_count"`
	LatestVersion int          `json:"latest_version" doc:"The newest frozen version; 0 if there is none."`
	Status        Status       `json:"status" enum:"active,archived"`
	Tags          []string     `json:"tags"`
	Metadata      httpapi.JSON `json:"metadata"`
	CreatedAt     httpapi.Time `json:"created_at"`
	UpdatedAt     httpapi.Time `json:"updated_at"`
	Version       int64        `json:"version" doc:"Counts changes of the dataset; see If-Match."`
}

type datasetOutput struct {
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     datasetBody
}

type listOutput struct {
	Body listBody
}

type listBody struct {
	Datasets []datasetBody `json:"datasets"`
	httpapi.Paging
}

func (s *Service) getDatasets(ctx context.Context, in *listInput) (*listOutput, error) {
	f := Filter{Status: Status(in.Status), Purpose: Purpose(in.Purpose), Tag: in.Tag, Search: in.Search, Limit: in.Limit, Offset: in.Offset}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	datasets, total, err := s.List(ctx, principal.From(ctx).Org, f)
	if err != nil {
		return nil, err
	}
	var out listOutput
	out.Body.Datasets = make([]datasetBody, len(datasets))
	for i, d := range datasets {
		out.Body.Datasets[i] = toDatasetBody(d)
	}
	out.Body.Paging = in.Page.Paging(len(datasets), total)
	return &out, nil
}

func (s *Service) postDataset(ctx context.Context, in *createInput) (*datasetOutput, error) {
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*datasetOutput, error) {
		b := in.Body
		d, err := s.CreateTx(ctx, tx, Dataset{
			Name: b.Name, Description: b.Description, Purpose: b.Purpose, Schema: b.Schema.Text(),
			Tags: httpapi.OrEmpty(b.Tags), Metadata: b.Metadata.Object(),
		})
		if err != nil {
			return nil, err
		}
		out := toDatasetOutput(d)
		out.Location = "/api/datasets/" + strconv.FormatInt(d.ID, 10)
		return out, nil
	})
}

func (s *Service) getDataset(ctx context.Context, in *Path) (*datasetOutput, error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	d, err := s.Find(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	return toDatasetOutput(d), nil
}

func (s *Service) patchDataset(ctx context.Context, in *updateInput) (*datasetOutput, error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*datasetOutput, error) {
		d, err := s.UpdateTx(ctx, tx, id, expected, in.Body.apply)
		if err != nil {
			return nil, err
		}
		return toDatasetOutput(d), nil
	})
}

func (s *Service) deleteDataset(ctx context.Context, in *Path) (*httpapi.DeletedOutput[string], error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		if err := s.DeleteTx(ctx, tx, id); err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(httpapi.ID(id).String()), nil
	})
}

// apply makes the sent changes. A name and a status cannot be cleared: null
// leaves them as they are.
func (b updateBody) apply(d *Dataset) {
	if b.Name.Sent && !b.Name.Null {
		d.Name = string(b.Name.Value)
	}
	if b.Status.Sent && !b.Status.Null {
		d.Status = Status(b.Status.Value)
	}
	if b.Description.Sent {
		d.Description = string(b.Description.Value)
	}
	if b.Schema.Sent {
		d.Schema = b.Schema.Value.Text()
	}
	if b.Tags.Sent {
		d.Tags = httpapi.OrEmpty(b.Tags.Value)
	}
	if b.Metadata.Sent {
		d.Metadata = b.Metadata.Value.Object()
	}
}

func toDatasetOutput(d Dataset) *datasetOutput {
	return &datasetOutput{ETag: httpapi.ETag(d.Version), Body: toDatasetBody(d)}
}

func toDatasetBody(d Dataset) datasetBody {
	return datasetBody{
		ID: httpapi.ID(d.ID), Name: d.Name, Description: d.Description, Purpose: d.Purpose, Schema: httpapi.JSON(d.Schema),
		ItemCount: d.ItemCount, LatestVersion: d.LatestVersion, Status: d.Status, Tags: d.Tags, Metadata: httpapi.JSON(d.Metadata),
		CreatedAt: httpapi.Time(d.CreatedAt), UpdatedAt: httpapi.Time(d.UpdatedAt), Version: d.Version,
	}
}
