package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/review/labelfile"
)

// ImportedTask is what became of a file of annotations so far.
type ImportedTask struct {
	Lines   int // that were read
	Created int
	// Answers is how many answers came with the items.
	Answers int
	Refused []RefusedLine
}

// importRecord is an item of a file in the form of a request.
type importRecord struct {
	Content     jsontext.Value `json:"content"`
	Suggestion  jsontext.Value `json:"suggestion,omitzero"`
	Annotations []importAnswer `json:"annotations,omitempty"`
}

type importAnswer struct {
	Annotator       string                    `json:"annotator,omitzero"`
	Rating          *float64                  `json:"rating,omitempty"`
	Label           string                    `json:"label,omitzero"`
	Labels          map[string]jsontext.Value `json:"labels,omitempty"`
	Feedback        string                    `json:"feedback,omitzero"`
	CorrectedOutput jsontext.Value            `json:"correctedOutput,omitzero"`
	Confidence      *float64                  `json:"confidence,omitempty"`
	Skipped         string                    `json:"skipped,omitzero"`
	DurationMS      *int64                    `json:"durationMs,omitempty"`
	CreatedAt       time.Time                 `json:"createdAt,omitzero"`
}

// ImportTask adds the items of a file to an annotation task. It stops before the
// request that would have an item that is refused, unless it is to go on. Every
// request has a key that follows from its content, so that a file that is imported
// again within a few days adds nothing.
func (c *Client) ImportTask(ctx context.Context, task int64, from *labelfile.Reader, goOn bool) (done ImportedTask, err error) {
	for err == nil {
		b := batch{body: []byte(`{"items":[`)}
		for len(b.numbers) < importItems && len(b.body) < importBytes && b.err == nil {
			b.read(from)
		}
		b.body = append(b.body, `]}`...)
		if err = c.importBatch(ctx, task, b, goOn, &done); err != nil {
			break
		}
		if len(done.Refused) > 0 && !goOn {
			return done, nil
		}
		err = b.err
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return done, err
}

// read adds the next item of a file to a batch.
func (b *batch) read(from *labelfile.Reader) {
	line, err := from.Next()
	if err != nil {
		b.err = err
		return
	}
	b.lines++
	text, err := json.Marshal(toImport(line.Record), json.Deterministic(true))
	if line.Err != nil {
		err = line.Err
	}
	if err != nil {
		b.refused = append(b.refused, RefusedLine{line.Number, err.Error()})
		return
	}
	if len(b.numbers) > 0 {
		b.body = append(b.body, ',')
	}
	b.body, b.numbers = append(b.body, text...), append(b.numbers, line.Number)
}

func toImport(r labelfile.Record) importRecord {
	out := importRecord{Content: r.Content, Suggestion: r.Suggestion}
	for _, a := range r.Answers {
		out.Annotations = append(out.Annotations, importAnswer{
			Annotator: a.Annotator, Rating: a.Rating, Label: a.Label, Labels: a.Labels, Feedback: a.Feedback, CorrectedOutput: a.CorrectedOutput, Confidence: a.Confidence,
			Skipped: a.Skipped, DurationMS: a.DurationMS, CreatedAt: a.CreatedAt,
		})
	}
	return out
}

// importBatch adds the items of a batch, all of them or, if it is to go on, those that
// nobody refuses.
func (c *Client) importBatch(ctx context.Context, task int64, b batch, goOn bool, done *ImportedTask) error {
	done.Lines += b.lines
	done.Refused = append(done.Refused, b.refused...)
	for len(b.numbers) > 0 && (goOn || len(done.Refused) == 0) {
		path := fmt.Sprintf("/api/annotations/tasks/%d/import", task)
		sum := sha256.Sum256(append([]byte(path), b.body...))
		var out struct {
			Created     int `json:"created"`
			Annotations int `json:"annotations"`
		}
		k := c.call()
		err := k.Send(ctx, http.MethodPost, path, jsontext.Value(b.body), &out, []api.Option{func(r *http.Request) { r.Header.Set("Idempotency-Key", "import-"+hex.EncodeToString(sum[:])) }})
		if err == nil {
			done.Created, done.Answers = done.Created+out.Created, done.Answers+out.Annotations
			return nil
		}
		wrong := refusedItems(err)
		if len(wrong) == 0 {
			return err
		}
		var so Imported
		if b, err = b.without(wrong, &so); err != nil {
			return err
		}
		done.Refused = append(done.Refused, so.Refused...)
	}
	return nil
}

// ExportTask writes the items and answers of an annotation task as a file.
func (c *Client) ExportTask(ctx context.Context, task int64, format labelfile.Format, to io.Writer) error {
	path := fmt.Sprintf("%s/api/annotations/tasks/%d/export?format=%s", c.base, task, url.QueryEscape(string(format)))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	patient := *c.http // an export takes as long as it takes
	patient.Timeout = 0
	res, err := patient.Do(req)
	if err != nil {
		return c.unanswered(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return c.unanswered(err)
		}
		return c.refusal(res, answer(res.Header), body)
	}
	if _, err := io.Copy(to, res.Body); err != nil {
		return fmt.Errorf("the export is not complete: %w", c.unanswered(err))
	}
	return nil
}
