package dataset

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerVersions(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listDatasetVersions", Method: http.MethodGet, Path: "/api/datasets/{id}/versions", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "List frozen versions",
	}, s.getVersions)
	httpapi.Register(e, httpapi.Op{
		ID: "freezeDatasetVersion", Method: http.MethodPost, Path: "/api/datasets/{id}/versions", Tag: tag, Scope: principal.EvalWrite, Status: 201, OptionalBody: true,
		Summary:     "Freeze the items as a version",
		Description: "A frozen version never changes: later writes to the dataset leave it as it is.",
	}, s.postVersion)
}

type listVersionsInput struct {
	Path
	httpapi.Page
}

type freezeInput struct {
	Path
	Body freezeBody
}

type freezeBody struct {
	Note string `json:"note,omitempty" maxLength:"2000" doc:"Why this version was made."`
}

// versionBody is a frozen version on the wire.
type versionBody struct {
	Version   int          `json:"version"`
	ItemCount int64        `json:"item_count"`
	Digest    string       `json:"digest" doc:"Names the contents: equal digests, equal items."`
	Note      string       `json:"note"`
	CreatedAt httpapi.Time `json:"created_at"`
}

type versionOutput struct {
	Body versionBody
}

type listVersionsOutput struct {
	Body listVersionsBody
}

type listVersionsBody struct {
	Versions []versionBody `json:"versions"`
	httpapi.Paging
}

func (s *Service) getVersions(ctx context.Context, in *listVersionsInput) (*listVersionsOutput, error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	versions, total, err := s.Versions(ctx, principal.From(ctx).Org, id, in.Limit, in.Offset)
	if err != nil {
		return nil, err
	}
	var out listVersionsOutput
	out.Body.Versions = make([]versionBody, len(versions))
	for i, v := range versions {
		out.Body.Versions[i] = toVersionBody(v)
	}
	out.Body.Paging = in.Page.Paging(len(versions), total)
	return &out, nil
}

func (s *Service) postVersion(ctx context.Context, in *freezeInput) (*versionOutput, error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*versionOutput, error) {
		v, err := s.FreezeTx(ctx, tx, id, in.Body.Note)
		if err != nil {
			return nil, err
		}
		return &versionOutput{Body: toVersionBody(v)}, nil
	})
}

func toVersionBody(v Version) versionBody {
	return versionBody{Version: v.Number, ItemCount: v.ItemCount, Digest: v.Digest.String(), Note: v.Note, CreatedAt: httpapi.Time(v.CreatedAt)}
}

// The types below carry bounds into partial updates, where tags of the field
// cannot reach the value.
type (
	nameText     string
	longText     string
	statusText   string
	splitText    string
	tagList      []string
	weightNumber float64
)

func bounded(low, high int) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, MinLength: &low, MaxLength: &high}
}

// Schema bounds a name.
func (nameText) Schema(huma.Registry) *huma.Schema { return bounded(1, 200) }

// Schema bounds a description.
func (longText) Schema(huma.Registry) *huma.Schema { return bounded(0, 10000) }

// Schema lists the statuses.
func (statusText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{string(StatusActive), string(StatusArchived)}}
}

// Schema lists the splits.
func (splitText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{"train", "dev", "test"}}
}

// Schema bounds a list of tags.
func (tagList) Schema(huma.Registry) *huma.Schema {
	most := 50
	return &huma.Schema{Type: huma.TypeArray, Items: bounded(1, 64), MaxItems: &most, UniqueItems: true}
}

// Schema bounds a weight.
func (weightNumber) Schema(huma.Registry) *huma.Schema {
	low, high := 0.0, 1e6
	return &huma.Schema{Type: huma.TypeNumber, Minimum: &low, Maximum: &high}
}
