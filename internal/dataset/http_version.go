package dataset

import (
	"context"
	"math"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

func (s *Service) registerVersions(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listDatasetVersions", Method: http.MethodGet, Path: "/api/datasets/{id}/versions", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the frozen versions of a dataset",
		Description: "Returns frozen versions, newest first.",
	}, s.getVersions)
	httpapi.Register(e, httpapi.Op{
		ID: "freezeDatasetVersion", Method: http.MethodPost, Path: "/api/datasets/{id}/versions", Tag: tag, Scope: principal.EvalWrite, Status: 201, OptionalBody: true,
		Summary:     "Freeze a version of a dataset",
		Description: "Freezes the current items under the next number. A frozen version never changes, whatever is written to the dataset later.",
	}, s.postVersion)
	httpapi.Register(e, httpapi.Op{
		ID: "getDatasetVersion", Method: http.MethodGet, Path: "/api/datasets/{id}/versions/{datasetVersion}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a frozen version of a dataset",
		Description: "Returns the version without its items. To read them, list the dataset's items with `datasetVersion`.",
	}, s.getVersion)
}

// VersionPath is the path of a frozen version.
type VersionPath struct {
	Path
	DatasetVersion string `path:"datasetVersion" maxLength:"32" doc:"The number of the frozen version."`
}

func (p VersionPath) both() (dataset int64, number int, err error) {
	if dataset, err = p.dataset(); err != nil {
		return 0, 0, err
	}
	n, ok := httpapi.ParseID(p.DatasetVersion)
	if !ok || n > math.MaxInt32 {
		return 0, 0, ErrVersionNotFound
	}
	return dataset, int(n), nil
}

type listVersionsInput struct {
	Path
	httpapi.CursorPage
}

type freezeInput struct {
	Path
	Body freezeBody
}

type freezeBody struct {
	Note string `json:"note,omitempty" maxLength:"2000" doc:"Why this version was frozen."`
}

// versionBody is a frozen version on the wire.
type versionBody struct {
	ID             httpapi.ID   `json:"id" doc:"Id of the version within its dataset: the digits of dataset_version."`
	DatasetVersion int          `json:"dataset_version" doc:"Number of the version, counted from 1 in each dataset."`
	ItemCount      int64        `json:"item_count" doc:"Number of items in the version."`
	Digest         string       `json:"digest" doc:"Digest of the items: versions with equal digests have equal items."`
	Note           *string      `json:"note" doc:"Why this version was frozen."`
	CreatedAt      httpapi.Time `json:"created_at" doc:"When the version was frozen."`
}

type frozenOutput struct {
	Location string `header:"Location" doc:"Path of the frozen version."`
	Body     versionBody
}

type listVersionsBody struct {
	Versions []versionBody `json:"versions" doc:"The frozen versions of this page, newest first."`
	httpapi.CursorPaging
}

// versions are the frozen versions of a dataset.
var versions = resource.List[Version, versionBody]{
	Cursor: "dataset versions",
	ID:     func(v Version) int64 { return int64(v.Number) },
	Show:   resource.Each(toVersionBody),
}

func (s *Service) getVersions(ctx context.Context, in *listVersionsInput) (*httpapi.Body[listVersionsBody], error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	shown, paging, err := versions.Page(ctx, in.CursorPage, func(p postgres.Page) ([]Version, int64, error) {
		return s.Versions(ctx, principal.From(ctx).Org, id, p)
	})
	return httpapi.NewBody(listVersionsBody{shown, paging}), err
}

func (s *Service) postVersion(ctx context.Context, in *freezeInput) (*frozenOutput, error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*frozenOutput, error) {
		v, err := s.FreezeTx(ctx, tx, id, in.Body.Note)
		if err != nil {
			return nil, err
		}
		return &frozenOutput{Location: routes.At(id) + "/versions/" + strconv.Itoa(v.Number), Body: toVersionBody(v)}, nil
	})
}

func (s *Service) getVersion(ctx context.Context, in *VersionPath) (*httpapi.Body[versionBody], error) {
	id, number, err := in.both()
	if err != nil {
		return nil, err
	}
	v, err := s.FindVersion(ctx, principal.From(ctx).Org, id, number)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toVersionBody(v)), nil
}

func toVersionBody(v Version) versionBody {
	return versionBody{
		ID: httpapi.ID(v.Number), DatasetVersion: v.Number, ItemCount: v.ItemCount, Digest: v.Digest.String(),
		Note: httpapi.OrNull(v.Note), CreatedAt: httpapi.Time(v.CreatedAt),
	}
}
