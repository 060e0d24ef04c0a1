package annotation

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/labelfile"
)

func (s *Service) registerFiles(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "exportAnnotationTask", Method: http.MethodGet, Path: "/api/annotations/tasks/{id}/export", Tag: tag, Scope: principal.EvalRead, Status: 200, ContentType: "*/*",
		Summary: "Export an annotation task",
		Description: "Returns all items, oldest first, with the submitted answers and the skips that the caller may see: in a blind task only their own until an item is complete. " +
			"`jsonl` has an item on each line, `csv` a row for each answer, and `label-studio` the tasks of Label Studio as JSON. An export that fails on the way breaks the connection, so that it cannot be mistaken for a complete one.",
	}, s.getExport)
	httpapi.Register(e, httpapi.Op{
		ID: "importAnnotationItems", Method: http.MethodPost, Path: "/api/annotations/tasks/{id}/import", Tag: tag, Scope: principal.EvalWrite, Status: 201, BodyLimit: httpapi.LargeBodyLimit,
		Summary: "Import items with answers from elsewhere",
		Description: "Adds up to 1,000 items, each of at most 256 KiB, all or none. `annotations` are answers that were given elsewhere. They are exported with the source `import` and the name of who gave them, and count for nothing else: " +
			"they complete no item, enter no agreement and do not make their authors annotators of the task. In a blind task they cannot be read until the item is complete.",
	}, s.postImport)
}

type exportInput struct {
	TaskPath
	Format string `query:"format" enum:"jsonl,csv,label-studio" default:"jsonl" doc:"How the file is written."`
}

func (s *Service) getExport(ctx context.Context, in *exportInput) (*httpapi.Stream, error) {
	caller := principal.From(ctx)
	t, err := s.Task(ctx, caller.Org, in.ID)
	if err != nil {
		return nil, err
	}
	f := labelfile.Format(in.Format)
	headers := map[string]string{
		"Content-Type":                 f.Media(),
		"Content-Disposition":          mime.FormatMediaType("attachment", map[string]string{"filename": "annotations-" + strconv.FormatInt(t.ID, 10) + f.Ending()}),
		"Content-Security-Policy":      httpapi.Sealed,
		"Cross-Origin-Resource-Policy": "same-origin",
	}
	return httpapi.NewStream(ctx, headers, func(to io.Writer) error {
		w, err := labelfile.NewWriter(to, f)
		if err != nil {
			return err
		}
		if err := s.Export(ctx, caller.Org, t, reader(caller), w.Write); err != nil {
			return err
		}
		return w.Close()
	}), nil
}

type importInput struct {
	TaskPath
	Body importBody
}

type importBody struct {
	Items []importItemBody `json:"items" minItems:"1" maxItems:"1000" doc:"Items to add."`
}

type importItemBody struct {
	ItemFields
	Annotations []importAnswerBody `json:"annotations,omitzero" maxItems:"100" doc:"Answers that were given elsewhere."`
}

// importAnswerBody is an answer that was given elsewhere.
type importAnswerBody struct {
	Annotator       string                  `json:"annotator,omitempty" maxLength:"200" doc:"Name of who gave it."`
	Rating          *float64                `json:"rating,omitempty" doc:"A rating."`
	Label           string                  `json:"label,omitempty" maxLength:"200" doc:"A label."`
	Labels          map[string]httpapi.JSON `json:"labels,omitempty" doc:"Labels by name; at most 50."`
	Feedback        string                  `json:"feedback,omitempty" maxLength:"20000" doc:"Free text."`
	CorrectedOutput httpapi.JSON            `json:"correctedOutput,omitzero" doc:"What the answer should have been."`
	Confidence      *float64                `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"How sure they were."`
	Skipped         string                  `json:"skipped,omitempty" maxLength:"2000" doc:"Why they would not answer, instead of an answer."`
	DurationMS      *int64                  `json:"durationMs,omitempty" minimum:"0" maximum:"86400000" doc:"Milliseconds that they spent."`
	CreatedAt       *httpapi.Time           `json:"createdAt,omitempty" doc:"When they gave it."`
}

// Check refuses items without content, and answers that say nothing.
func (b *importBody) Check(context.Context) error {
	var bad []fault.Field
	for i, item := range b.Items {
		at := "/items/" + strconv.Itoa(i)
		bad = append(bad, item.check(at)...)
		size := 0
		for n, a := range item.Annotations {
			at := at + "/annotations/" + strconv.Itoa(n)
			said := a.answer()
			size += len(said.CorrectedOutput)
			for _, v := range said.Labels {
				size += len(v)
			}
			switch {
			case !said.Said():
				bad = append(bad, fault.Field{In: "body", Path: at, Code: "one_of_required", Message: "says nothing: send rating, label, labels, feedback, correctedOutput or skipped"})
			case len(said.Labels) > 50:
				bad = append(bad, fault.Field{In: "body", Path: at + "/labels", Code: "length", Message: "must have at most 50 labels"})
			}
		}
		if size > maxItem {
			bad = append(bad, fault.Field{In: "body", Path: at + "/annotations", Code: "length", Message: "is too large: the labels and corrections of an item have at most 256 KiB", Limit: maxItem})
		}
	}
	return httpapi.Invalid(bad...)
}

// answer is the answer as it is kept.
func (b importAnswerBody) answer() labelfile.Answer {
	a := labelfile.Answer{
		Annotator: b.Annotator, Rating: b.Rating, Label: b.Label, Labels: fromLabels(b.Labels), Feedback: b.Feedback, Confidence: b.Confidence, Skipped: b.Skipped, DurationMS: b.DurationMS,
	}
	if b.CorrectedOutput != nil && string(b.CorrectedOutput) != "null" {
		a.CorrectedOutput = jsontext.Value(b.CorrectedOutput)
	}
	if b.CreatedAt != nil {
		a.CreatedAt = time.Time(*b.CreatedAt).UTC()
	}
	return a
}

type importOutput struct {
	Location string `header:"Location" doc:"Path of the task's items."`
	Body     importedBody
}

type importedBody struct {
	Created     int `json:"created" doc:"Number of items that were added."`
	Annotations int `json:"annotations" doc:"Number of answers from elsewhere that were kept with them."`
}

func (s *Service) postImport(ctx context.Context, in *importInput) (*importOutput, error) {
	if out, err := change.Recall[importOutput](ctx, s.log); out != nil || err != nil {
		return out, err
	}
	caller := principal.From(ctx)
	if _, err := s.Task(ctx, caller.Org, in.ID); err != nil {
		return nil, err
	}
	items, known := make([]ImportItem, len(in.Body.Items)), newNamed()
	for i, b := range in.Body.Items {
		one, err := s.fromItemFields(ctx, caller.Org, b.ItemFields, "/items/"+strconv.Itoa(i), known)
		if err != nil {
			return nil, err
		}
		items[i].NewItem = one
		for _, a := range b.Annotations {
			items[i].Answers = append(items[i].Answers, a.answer())
		}
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*importOutput, error) {
		answers, err := s.ImportTx(ctx, tx, in.ID, items)
		if err != nil {
			return nil, err
		}
		return &importOutput{
			Location: "/api/annotations/tasks/" + strconv.FormatInt(in.ID, 10) + "/items", Body: importedBody{Created: len(items), Annotations: answers},
		}, nil
	})
}

// records writes items with the names of the people in them.
func (s *Service) records(ctx context.Context, org principal.OrgID, t Task, list []Read, imported map[int64][]labelfile.Answer) ([]labelfile.Record, error) {
	var who []principal.Actor
	for _, i := range list {
		for _, a := range i.Annotations {
			who = append(who, a.actor())
		}
		for _, k := range i.Skips {
			who = append(who, principal.UserActor(k.Person, false))
		}
	}
	by, err := s.tenancy.Actors(ctx, org, who...)
	if err != nil {
		return nil, err
	}
	out := make([]labelfile.Record, len(list))
	for n, i := range list {
		r := labelfile.Record{ID: i.ID, Status: string(i.Status), Content: i.Content, Suggestion: i.Suggestion}
		if !t.Blind || i.answered() {
			r.Answers = imported[i.ID]
		}
		for _, a := range i.Annotations {
			if a.Status == StatusSubmitted {
				r.Answers = append(r.Answers, toFileAnswer(a, by[0]))
			}
			by = by[1:]
		}
		for _, k := range i.Skips {
			r.Answers = append(r.Answers, labelfile.Answer{Annotator: annotatorName(by[0]), Source: labelfile.SourceAnnotation, Skipped: k.Reason, CreatedAt: k.At.UTC()})
			by = by[1:]
		}
		out[n] = r
	}
	return out, nil
}

func toFileAnswer(a Annotation, by httpapi.Actor) labelfile.Answer {
	return labelfile.Answer{
		Annotator: annotatorName(by), Source: labelfile.SourceAnnotation, Rating: a.Answer.Rating, Label: a.Answer.Label, Labels: a.Answer.Labels, Feedback: a.Answer.Feedback,
		CorrectedOutput: a.Answer.CorrectedOutput, Confidence: a.Answer.Confidence, DurationMS: a.DurationMS, CreatedAt: a.CreatedAt.UTC(),
	}
}

// annotatorName tells people apart who have the same name.
func annotatorName(by httpapi.Actor) string {
	id, name := *by.ID, ""
	if by.Name != nil {
		name = *by.Name
	}
	if name == "" {
		return id
	}
	return name + " (" + id[:min(8, len(id))] + ")"
}
