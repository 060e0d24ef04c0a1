package evaluation

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/request"
)

func (s *Service) registerArtifacts(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listEvaluationArtifacts", Method: http.MethodGet, Path: "/api/evaluations/{id}/artifacts", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the artifacts of an evaluation",
		Description: "Artifacts are the files that runs produce: report, results, comparison and log. They appear shortly after a run has ended.",
	}, s.getArtifacts)
	httpapi.Register(e, httpapi.Op{
		ID: "getEvaluationArtifact", Method: http.MethodGet, Path: "/api/evaluations/{id}/artifacts/{artifactId}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get an artifact",
		Description: "JSON of up to 256 KiB is included as `content`; anything else is available at `download_path`.",
	}, s.getArtifact)
	httpapi.Register(e, httpapi.Op{
		ID: "getEvaluationArtifactContent", Method: http.MethodGet, Path: "/api/evaluations/{id}/artifacts/{artifactId}/content", Tag: tag, Scope: principal.EvalRead, Status: 200,
		ContentType: "*/*",
		Summary:     "Download an artifact",
		Description: "Returns the bytes with the artifact's own content type, as an attachment. They contain text from your applications, so a browser that displays them " +
			"is kept from running scripts in them. A download that fails midway is cut off rather than ended as if it were complete.",
	}, s.getArtifactContent)
}

// ArtifactPath is the path of an artifact.
type ArtifactPath struct {
	Path
	ArtifactID string `path:"artifactId" maxLength:"32" doc:"The artifact's id."`
}

func (p ArtifactPath) ids() (evaluation, artifact int64, err error) {
	if evaluation, err = p.evaluation(); err != nil {
		return 0, 0, err
	}
	artifact, ok := httpapi.ParseID(p.ArtifactID)
	if !ok {
		return 0, 0, ErrArtifactNotFound
	}
	return evaluation, artifact, nil
}

type listArtifactsInput struct {
	Path
	httpapi.Page
	RunID string `query:"runId" maxLength:"32" doc:"Only artifacts of this run."`
	Kind  string `query:"kind" enum:"report,results,comparison,analysis,labeled_dataset,log" doc:"Only artifacts of this kind."`
	httpapi.Created
}

type listArtifactsOutput struct {
	Body artifactsBody
}

type artifactsBody struct {
	Artifacts []artifactBody `json:"artifacts" doc:"The artifacts of this page, newest first."`
	httpapi.Paging
}

// artifactBody is an artifact on the wire.
type artifactBody struct {
	ID           httpapi.ID                 `json:"id" doc:"Id of the artifact."`
	ArtifactID   httpapi.ID                 `json:"artifact_id" doc:"The same as id."`
	EvaluationID httpapi.ID                 `json:"evaluation_id" doc:"The evaluation."`
	RunID        httpapi.ID                 `json:"run_id" doc:"The run that produced the artifact."`
	Kind         ArtifactKind               `json:"kind" enum:"report,results,comparison,analysis,labeled_dataset,log" doc:"What the artifact contains."`
	Name         string                     `json:"name" doc:"File name, unique within the run." example:"report.html"`
	ContentType  string                     `json:"content_type" doc:"Media type of the content." example:"text/html; charset=utf-8"`
	SizeBytes    int64                      `json:"size_bytes" doc:"Size of the content in bytes."`
	SHA256       string                     `json:"sha256" doc:"SHA-256 digest of the content, in hexadecimal digits."`
	Content      httpapi.JSON               `json:"content" doc:"The content itself, for JSON of up to 256 KiB; otherwise, and in lists, null."`
	DownloadPath string                     `json:"download_path" doc:"Path that returns the content."`
	CreatedAt    httpapi.Time               `json:"created_at" doc:"When the artifact was first written."`
	ExpiresAt    httpapi.Null[httpapi.Time] `json:"expires_at" doc:"Always null: the content is kept until the evaluation or the organization is deleted."`
}

type artifactOutput struct {
	Body artifactBody
}

func (s *Service) getArtifacts(ctx context.Context, in *listArtifactsInput) (*listArtifactsOutput, error) {
	id, err := in.evaluation()
	if err != nil {
		return nil, err
	}
	f := ArtifactFilter{Kind: ArtifactKind(in.Kind), Limit: in.Limit, Offset: in.Offset}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	if in.RunID != "" {
		var ok bool
		if f.Run, ok = httpapi.ParseID(in.RunID); !ok {
			f.Run = -1 // names no run
		}
	}
	all, total, err := s.Artifacts(ctx, principal.From(ctx).Org, id, f)
	if err != nil {
		return nil, err
	}
	var out listArtifactsOutput
	out.Body.Artifacts = make([]artifactBody, len(all))
	for i, a := range all {
		out.Body.Artifacts[i] = toArtifactBody(a)
	}
	out.Body.Paging = in.Page.Paging(len(all), total)
	return &out, nil
}

// maxInline is the largest content that is part of an artifact's own answer.
const maxInline = 256 << 10

func (s *Service) getArtifact(ctx context.Context, in *ArtifactPath) (*artifactOutput, error) {
	evaluation, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	a, err := s.FindArtifact(ctx, principal.From(ctx).Org, evaluation, id)
	if err != nil {
		return nil, err
	}
	out := &artifactOutput{Body: toArtifactBody(a)}
	if a.ContentType != "application/json" || a.Size > maxInline {
		return out, nil
	}
	r, err := s.OpenArtifact(ctx, a)
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

// sealed lets a browser show a file and nothing more: no script, no request, no
// frame, and an origin of its own.
const sealed = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

func (s *Service) getArtifactContent(ctx context.Context, in *ArtifactPath) (*huma.StreamResponse, error) {
	evaluation, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	a, err := s.FindArtifact(ctx, principal.From(ctx).Org, evaluation, id)
	if err != nil {
		return nil, err
	}
	content, err := s.OpenArtifact(ctx, a)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(out huma.Context) {
		defer func() { _ = content.Close() }()
		out.SetHeader("Content-Type", a.ContentType)
		out.SetHeader("Content-Length", strconv.FormatInt(a.Size, 10))
		out.SetHeader("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fmt.Sprintf("run-%d-%s", a.Run, a.Name)}))
		out.SetHeader("Content-Security-Policy", sealed)
		out.SetHeader("Cross-Origin-Resource-Policy", "same-origin")
		out.SetHeader("ETag", `"`+hex.EncodeToString(a.Digest[:])+`"`)
		out.SetStatus(http.StatusOK)
		if _, err := io.Copy(out.BodyWriter(), content); err != nil {
			slog.WarnContext(ctx, "artifact is cut off", "request_id", request.From(ctx).ID, "error", err)
			panic(http.ErrAbortHandler) // so that the caller sees that it is not whole
		}
	}}, nil
}

func toArtifactBody(a Artifact) artifactBody {
	return artifactBody{
		ID: httpapi.ID(a.ID), ArtifactID: httpapi.ID(a.ID), EvaluationID: httpapi.ID(a.Evaluation), RunID: httpapi.ID(a.Run), Kind: a.Kind, Name: a.Name,
		ContentType: a.ContentType, SizeBytes: a.Size, SHA256: hex.EncodeToString(a.Digest[:]), CreatedAt: httpapi.Time(a.CreatedAt),
		DownloadPath: fmt.Sprintf("/api/evaluations/%d/artifacts/%d/content", a.Evaluation, a.ID),
	}
}

func toNoteBody(n Note) noteBody {
	return noteBody{At: httpapi.Time(n.At), Level: n.Level, Message: n.Message}
}
