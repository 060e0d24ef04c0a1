package trace

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerFeedback(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "createFeedback", Method: http.MethodPost, Path: "/api/traces/{id}/feedback", Tag: tag, Scope: principal.TracesWrite, Status: 201, Annotators: true,
		Summary: "Say something about a trace",
		Description: "`thumbs` takes true or \"up\", false or \"down\" as its value; `rating` a number from 0 to 1; `comment` needs a comment; " +
			"`correction` takes what would have been right. It is shown with the trace.",
	}, s.postFeedback)
}

type createFeedbackInput struct {
	TracePath
	Body createFeedbackBody
}

type createFeedbackBody struct {
	Type    FeedbackType `json:"type" enum:"thumbs,rating,comment,correction"`
	Value   httpapi.JSON `json:"value,omitzero" doc:"What the type asks for."`
	Comment string       `json:"comment,omitempty" maxLength:"10000"`
	SpanID  string       `json:"spanId,omitempty" maxLength:"16" doc:"The span that it is about, 16 hexadecimal digits; absent means the whole trace."`
	UserID  string       `json:"userId,omitempty" maxLength:"200" doc:"The user of the application who says so."`
}

// feedbackBody is feedback on the wire.
type feedbackBody struct {
	ID        int64        `json:"id"`
	TraceID   string       `json:"trace_id"`
	SpanID    string       `json:"span_id,omitempty"`
	Type      FeedbackType `json:"type" enum:"thumbs,rating,comment,correction"`
	Value     httpapi.JSON `json:"value,omitzero"`
	Comment   string       `json:"comment"`
	UserID    string       `json:"user_id"`
	CreatedAt httpapi.Time `json:"created_at"`
}

type feedbackOutput struct {
	Body feedbackBody
}

func (s *Service) postFeedback(ctx context.Context, in *createFeedbackInput) (*feedbackOutput, error) {
	f, err := in.Body.feedback()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	if f.Trace, err = s.existing(ctx, org, in.ID); err != nil {
		return nil, err
	}
	if err := s.redactFeedback(ctx, org, &f); err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*feedbackOutput, error) {
		f, err := s.AddFeedbackTx(ctx, tx, f)
		if err != nil {
			return nil, err
		}
		return &feedbackOutput{Body: toFeedbackBody(f)}, nil
	})
}

// feedback reads the body; null is no value.
func (b createFeedbackBody) feedback() (Feedback, error) {
	f := Feedback{Type: b.Type, Comment: b.Comment, UserID: b.UserID}
	if string(b.Value) != "null" {
		f.Value = jsontext.Value(b.Value)
	}
	if b.SpanID != "" {
		var ok bool
		if f.Span, ok = ParseSpanID(b.SpanID); !ok {
			return Feedback{}, fault.Invalid("body", "/spanId", "pattern", "must be 16 hexadecimal digits that are not all zero")
		}
	}
	return f, f.check()
}

func toFeedbackBody(f Feedback) feedbackBody {
	return feedbackBody{
		ID: f.ID, TraceID: f.Trace.String(), SpanID: f.Span.String(), Type: f.Type, Value: httpapi.JSON(f.Value),
		Comment: f.Comment, UserID: f.UserID, CreatedAt: httpapi.Time(f.CreatedAt),
	}
}
