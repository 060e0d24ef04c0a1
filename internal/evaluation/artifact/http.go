package artifact

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

// schemas are the public names of the wire types. Clients are generated from
// them: renaming one is a breaking change.
var schemas = httpapi.Schemas{"Artifact": artifactBody{}, "ArtifactList": artifactsBody{}}

// RegisterHTTP adds the operations on artifacts to the route table, under the tag
// of evaluations.
func (s *Service) RegisterHTTP(e *httpapi.Edge, tag string) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "listEvaluationArtifacts", Method: http.MethodGet, Path: "/api/evaluations/{id}/artifacts", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the artifacts of an evaluation",
		Description: "Artifacts are the files that runs produce: report, results, comparison and log. They appear shortly after a run has ended.",
	}, s.getList)
	httpapi.Register(e, httpapi.Op{
		ID: "getEvaluationArtifact", Method: http.MethodGet, Path: "/api/evaluations/{id}/artifacts/{artifactId}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get an artifact",
		Description: "JSON of up to 256 KiB is included as `content`; anything else is available at `download_path`.",
	}, s.get)
	httpapi.Register(e, httpapi.Op{
		ID: "getEvaluationArtifactContent", Method: http.MethodGet, Path: "/api/evaluations/{id}/artifacts/{artifactId}/content", Tag: tag, Scope: principal.EvalRead, Status: 200,
		ContentType: "*/*",
		Summary:     "Download an artifact",
		Description: "Returns the bytes with the artifact's own content type, as an attachment. They contain text from your applications, so a browser that displays them " +
			"is kept from running scripts in them. A download that fails midway is cut off rather than ended as if it were complete.",
	}, s.getContent)
}

// EvaluationPath is the path of an evaluation.
type EvaluationPath struct {
	ID string `path:"id" maxLength:"32" doc:"The evaluation's id."`
}

// evaluation is the number behind the path; a text that is no number is that of
// no evaluation.
func (p EvaluationPath) evaluation() int64 {
	id, _ := httpapi.ParseID(p.ID)
	return id
}

// Path is the path of an artifact.
type Path struct {
	EvaluationPath
	ArtifactID string `path:"artifactId" maxLength:"32" doc:"The artifact's id."`
}

// find returns the artifact at a path.
func (s *Service) find(ctx context.Context, p Path) (Artifact, error) {
	id, _ := httpapi.ParseID(p.ArtifactID) // a text that is no number is that of no artifact
	return s.Find(ctx, principal.From(ctx).Org, p.evaluation(), id)
}

type listInput struct {
	EvaluationPath
	httpapi.CursorPage
	RunID string `query:"runId" maxLength:"32" doc:"Only artifacts of this run."`
	Kind  string `query:"kind" enum:"report,results,comparison,analysis,labeled_dataset,log" doc:"Only artifacts of this kind."`
	httpapi.Created
}

type artifactsBody struct {
	Artifacts []artifactBody `json:"artifacts" doc:"The artifacts of this page, newest first."`
	httpapi.CursorPaging
}

var artifacts = resource.List[Artifact, artifactBody]{
	Cursor: "artifacts",
	ID:     func(a Artifact) int64 { return a.ID },
	Show:   resource.Each(toArtifactBody),
}

// artifactBody is an artifact on the wire.
type artifactBody struct {
	ID           httpapi.ID                 `json:"id" doc:"Id of the artifact."`
	ArtifactID   httpapi.ID                 `json:"artifact_id" doc:"The same as id."`
	EvaluationID httpapi.ID                 `json:"evaluation_id" doc:"The evaluation."`
	RunID        httpapi.ID                 `json:"run_id" doc:"The run that produced the artifact."`
	Kind         Kind                       `json:"kind" enum:"report,results,comparison,analysis,labeled_dataset,log" doc:"What the artifact contains."`
	Name         string                     `json:"name" doc:"File name, unique within the run." example:"report.html"`
	ContentType  string                     `json:"content_type" doc:"Media type of the content." example:"text/html; charset=utf-8"`
	SizeBytes    int64                      `json:"size_bytes" doc:"Size of the content in bytes."`
	SHA256       string                     `json:"sha256" doc:"SHA-256 digest of the content, in hexadecimal digits."`
	Content      httpapi.JSON               `json:"content" doc:"The content itself, for JSON of up to 256 KiB; otherwise, and in lists, null."`
	DownloadPath string                     `json:"download_path" doc:"Path that returns the content."`
	CreatedAt    httpapi.Time               `json:"created_at" doc:"When the artifact was first written."`
	ExpiresAt    httpapi.Null[httpapi.Time] `json:"expires_at" doc:"Always null: the content is kept until the evaluation or the organization is deleted."`
}

func (s *Service) getList(ctx context.Context, in *listInput) (*httpapi.Body[artifactsBody], error) {
	f := Filter{Kind: Kind(in.Kind)}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	if in.RunID != "" {
		var ok bool
		if f.Run, ok = httpapi.ParseID(in.RunID); !ok {
			f.Run = -1 // names no run
		}
	}
	shown, paging, err := artifacts.Page(ctx, in.CursorPage, func(p postgres.Page) ([]Artifact, int64, error) {
		f.Page = p
		return s.List(ctx, principal.From(ctx).Org, in.evaluation(), f)
	})
	return httpapi.NewBody(artifactsBody{shown, paging}), err
}

// maxInline is the largest content that is part of an artifact's own answer.
const maxInline = 256 << 10

func (s *Service) get(ctx context.Context, in *Path) (*httpapi.Body[artifactBody], error) {
	a, err := s.find(ctx, *in)
	if err != nil {
		return nil, err
	}
	out := &httpapi.Body[artifactBody]{Body: toArtifactBody(a)}
	if a.ContentType != "application/json" || a.Size > maxInline {
		return out, nil
	}
	r, err := s.Open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read artifact %d: %w", a.ID, err)
	}
	out.Body.Content = httpapi.JSON(content)
	return out, nil
}

func (s *Service) getContent(ctx context.Context, in *Path) (*httpapi.Stream, error) {
	a, err := s.find(ctx, *in)
	if err != nil {
		return nil, err
	}
	content, err := s.Open(ctx, a)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{
		"Content-Type":                 a.ContentType,
		"Content-Length":               strconv.FormatInt(a.Size, 10),
		"Content-Disposition":          mime.FormatMediaType("attachment", map[string]string{"filename": fmt.Sprintf("run-%d-%s", a.Run, a.Name)}),
		"Content-Security-Policy":      httpapi.Sealed,
		"Cross-Origin-Resource-Policy": "same-origin",
		"ETag":                         `"` + hex.EncodeToString(a.Digest[:]) + `"`,
	}
	return httpapi.NewStream(ctx, headers, func(w io.Writer) error {
		defer func() { _ = content.Close() }()
		_, err := io.Copy(w, content)
		return err
	}), nil
}

func toArtifactBody(a Artifact) artifactBody {
	return artifactBody{
		ID: httpapi.ID(a.ID), ArtifactID: httpapi.ID(a.ID), EvaluationID: httpapi.ID(a.Evaluation), RunID: httpapi.ID(a.Run), Kind: a.Kind, Name: a.Name,
		ContentType: a.ContentType, SizeBytes: a.Size, SHA256: hex.EncodeToString(a.Digest[:]), CreatedAt: httpapi.Time(a.CreatedAt),
		DownloadPath: fmt.Sprintf("/api/evaluations/%d/artifacts/%d/content", a.Evaluation, a.ID),
	}
}
