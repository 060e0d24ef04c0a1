package trace

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

func (s *Service) registerFeedback(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "addTraceFeedback", Method: http.MethodPost, Path: "/api/traces/{id}/feedback", Tag: tag, Scope: principal.TracesWrite, Status: 201, Annotators: true,
		Summary: "Add feedback",
		Description: "`thumbs` takes true or \"up\", false or \"down\" as its value, `rating` a number from 0 to 1, `score` any number and the `name` of its metric, and `correction` the output that would have been right; `comment` needs a comment. " +
			"The newest feedback is part of the trace that GET returns. A user's newer thumbs, rating, score of the same name or correction of the same trace or span replaces the older one, and so does a key's newer score; comments are kept side by side, and so is feedback without a `userId` unless a member sends it with a personal key that they made themselves. " +
			whenDeferred,
	}, s.postFeedback)
}

type addFeedbackInput struct {
	TracePath
	Body addFeedbackBody
}

type addFeedbackBody struct {
	Type    FeedbackType `json:"type" enum:"thumbs,rating,score,comment,correction" doc:"Type of feedback, which decides what value may be."`
	Name    string       `json:"name,omitempty" pattern:"^[A-Za-z][A-Za-z0-9_.:-]{0,63}$" doc:"score: name of the metric. If the trace is that of a result and the run has an external metric of this name, it is the result's score."`
	Value   httpapi.JSON `json:"value,omitzero" doc:"Value, as the type requires it."`
	Comment string       `json:"comment,omitempty" maxLength:"10000" doc:"Free text."`
	SpanID  string       `json:"spanId,omitempty" maxLength:"16" doc:"Id of the span that the feedback is about; absent for the whole trace."`
	UserID  string       `json:"userId,omitempty" maxLength:"200" doc:"End user of the application who gave the feedback, as the application names them."`
}

// feedbackBody is feedback on the wire.
type feedbackBody struct {
	ID        int64         `json:"id" doc:"Id, unique within the organization."`
	TraceID   string        `json:"trace_id" doc:"Id of the trace."`
	SpanID    *string       `json:"span_id" doc:"Id of the span that the feedback is about; null if it is about the whole trace."`
	Type      FeedbackType  `json:"type" enum:"thumbs,rating,score,comment,correction" doc:"Type of feedback."`
	Name      *string       `json:"name" doc:"Name of the metric that a score is of; null for other types."`
	Value     httpapi.JSON  `json:"value" doc:"A boolean for thumbs, a number from 0 to 1 for a rating, a number for a score, any JSON value for a correction; null for a comment without one."`
	Comment   *string       `json:"comment" doc:"Free text; null if there is none."`
	UserID    *string       `json:"user_id" doc:"End user of the application who gave the feedback; null if unknown."`
	CreatedBy httpapi.Actor `json:"created_by" doc:"Member or key that sent the feedback."`
	CreatedAt httpapi.Time  `json:"created_at" doc:"Time of creation."`
}

type feedbackOutput struct {
	Ingest   string `header:"X-Ingest" enum:"deferred" doc:"deferred if the feedback is stored safely but not readable yet; otherwise absent."`
	Location string `header:"Location" doc:"Path of the trace, which shows its feedback."`
	Body     feedbackBody
}

func (s *Service) postFeedback(ctx context.Context, in *addFeedbackInput) (*feedbackOutput, error) {
	f, err := in.Body.feedback()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	if f.Trace, err = s.Resolve(ctx, org, in.ID); err != nil {
		return nil, err
	}
	if err := s.prepareFeedback(ctx, org, &f); err != nil {
		return nil, err
	}
	added := false
	out, err := change.Do(ctx, s.log, func(tx postgres.Tx) (*feedbackOutput, error) {
		if f, err = s.AddFeedbackTx(ctx, tx, f); err != nil {
			return nil, err
		}
		by, err := s.tenancy.ActorsTx(ctx, tx, f.CreatedBy)
		if err != nil {
			return nil, err
		}
		added = true
		return &feedbackOutput{Location: tracePath(f.Trace), Body: toFeedbackBody(f, by[0])}, nil
	})
	if err == nil && added {
		out.Ingest = toIngest(!s.KeepFeedback(ctx, org, f))
	}
	return out, err
}

// feedback reads the body; null is no value.
func (b addFeedbackBody) feedback() (Feedback, error) {
	f := Feedback{Type: b.Type, Name: b.Name, Comment: b.Comment, UserID: b.UserID}
	if string(b.Value) != "null" {
		f.Value = jsontext.Value(b.Value)
	}
	if b.SpanID != "" {
		var ok bool
		if f.Span, ok = span.ParseID(b.SpanID); !ok {
			return Feedback{}, fault.Invalid("body", "/spanId", "pattern", "must be 16 hexadecimal digits that are not all zero")
		}
	}
	return f, f.check()
}

// Shown is the feedback as getTrace shows it.
func (f Feedback) Shown() any { return toFeedbackBody(f, httpapi.ToActor(f.CreatedBy, "")) }

func toFeedbackBody(f Feedback, by httpapi.Actor) feedbackBody {
	return feedbackBody{
		ID: f.ID, TraceID: f.Trace.String(), SpanID: httpapi.OrNull(f.Span.String()), Type: f.Type, Name: httpapi.OrNull(f.Name), Value: httpapi.JSON(f.Value),
		Comment: httpapi.OrNull(f.Comment), UserID: httpapi.OrNull(f.UserID), CreatedBy: by, CreatedAt: httpapi.Time(f.CreatedAt),
	}
}
