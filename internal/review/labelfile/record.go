package labelfile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Format is how items are written.
type Format string

// The formats.
const (
	JSONL       Format = "jsonl"
	CSV         Format = "csv"
	LabelStudio Format = "label-studio"
)

// Sources of answers.
const (
	SourceAnnotation = "annotation" // a person of the organization gave it, in the task
	SourceImport     = "import"     // it comes from a file
)

// Record is an item with its answers.
type Record struct {
	// ID is the item's where the file was written. An item that is imported gets
	// another one.
	ID         int64          `json:"id,omitzero"`
	Status     string         `json:"status,omitzero"`
	Content    jsontext.Value `json:"content"`
	Suggestion jsontext.Value `json:"suggestion,omitzero"`
	Answers    []Answer       `json:"annotations,omitempty"`
}

// Answer is what somebody said about an item, or that they skipped it.
type Answer struct {
	Annotator       string                    `json:"annotator,omitzero"`
	Source          string                    `json:"source,omitzero"`
	Rating          *float64                  `json:"rating,omitempty"`
	Label           string                    `json:"label,omitzero"`
	Labels          map[string]jsontext.Value `json:"labels,omitempty"`
	Feedback        string                    `json:"feedback,omitzero"`
	CorrectedOutput jsontext.Value            `json:"corrected_output,omitzero"`
	Confidence      *float64                  `json:"confidence,omitempty"`
	// Skipped is why somebody would not answer; everything above it is then empty but
	// who they are.
	Skipped    string    `json:"skipped,omitzero"`
	DurationMS *int64    `json:"duration_ms,omitempty"`
	CreatedAt  time.Time `json:"created_at,omitzero"`
}

// Said reports whether the answer says anything.
func (a Answer) Said() bool {
	return a.Skipped != "" || a.answers()
}

func (a Answer) answers() bool {
	return a.Rating != nil || a.Label != "" || len(a.Labels) > 0 || a.Feedback != "" || a.CorrectedOutput != nil
}

// MaxAnswers is how many answers one item can have.
const MaxAnswers = 100

// longest is how long the name of an annotator can be.
const longest = 200

// maxDuration is a day in milliseconds.
const maxDuration = 86_400_000

// check refuses what no task has.
func (r *Record) check() error {
	r.ID, r.Content, r.Suggestion = max(r.ID, 0), tidy(r.Content), tidy(r.Suggestion)
	if r.Content == nil {
		return errors.New("has no content")
	}
	if len(r.Answers) > MaxAnswers {
		return fmt.Errorf("has %d answers, and an item can have %d", len(r.Answers), MaxAnswers)
	}
	for i := range r.Answers {
		if err := r.Answers[i].check(); err != nil {
			return fmt.Errorf("answer %d %w", i+1, err)
		}
	}
	return nil
}

// tidy is a JSON value without spaces around its parts; nil if it is null.
func tidy(v jsontext.Value) jsontext.Value {
	if v == nil || v.Kind() == 'n' {
		return nil
	}
	v = v.Clone()
	_ = v.Compact() // what is not JSON was refused before
	return v
}

func (a *Answer) check() error {
	a.Annotator, a.CorrectedOutput = strings.TrimSpace(a.Annotator), tidy(a.CorrectedOutput)
	for key, v := range a.Labels {
		if a.Labels[key] = tidy(v); a.Labels[key] == nil {
			delete(a.Labels, key)
		}
	}
	if len(a.Labels) == 0 {
		a.Labels = nil
	}
	switch {
	case !a.Said():
		return errors.New("says nothing: it needs rating, label, labels, feedback, corrected_output or skipped")
	case a.Skipped != "" && (a.answers() || a.Confidence != nil):
		return errors.New("is skipped and answered: leave one of them out")
	case a.Source != "" && a.Source != SourceAnnotation && a.Source != SourceImport:
		return fmt.Errorf("has the source %q, and must have %s or %s, or none", a.Source, SourceAnnotation, SourceImport)
	case len(a.Annotator) > longest:
		return fmt.Errorf("has an annotator whose name is longer than %d bytes", longest)
	case a.Confidence != nil && !(*a.Confidence >= 0 && *a.Confidence <= 1):
		return errors.New("has a confidence that is not from 0 to 1")
	case a.DurationMS != nil && (*a.DurationMS < 0 || *a.DurationMS > maxDuration):
		return errors.New("has a duration that is not from 0 to a day")
	}
	if !a.CreatedAt.IsZero() {
		a.CreatedAt = a.CreatedAt.UTC().Truncate(time.Millisecond)
		if y := a.CreatedAt.Year(); y < 1 || y > 9999 {
			return errors.New("has a time that cannot be written")
		}
	}
	return nil
}
