package adjudication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Subject is what an item is about: a result of a run, a trace or a span of it, or an
// answer that only results of judges have. Results that led to the item are named
// beside the run or the trace that they are about.
type Subject struct {
	Run      int64 `json:"run,omitzero"`
	TestCase int64 `json:"test_case,omitzero"`
	Epoch    int   `json:"epoch,omitzero"`

	Trace string `json:"trace,omitzero"` // in hexadecimal digits
	Span  string `json:"span,omitzero"`

	JudgeResults []int64 `json:"judge_results,omitzero"`

	AnnotationItem int64 `json:"annotation_item,omitzero"`
}

// key is the subject in one form: equal subjects have equal keys.
func (s Subject) key() string {
	switch {
	case s.Run != 0:
		return fmt.Sprintf("run/%d/%d/%d", s.Run, s.TestCase, s.Epoch)
	case s.Trace != "":
		return strings.TrimSuffix("trace/"+s.Trace+"/"+s.Span, "/")
	case len(s.JudgeResults) > 0:
		ids := slices.Compact(slices.Sorted(slices.Values(s.JudgeResults)))
		texts := make([]string, len(ids))
		for i, id := range ids {
			texts[i] = strconv.FormatInt(id, 10)
		}
		return "judge_results/" + strings.Join(texts, ",")
	}
	return fmt.Sprintf("annotation_item/%d", s.AnnotationItem)
}

// scored is the subject as scores name it; zero if no score can be about it.
func (s Subject) scored() score.Subject {
	switch {
	case s.Run != 0:
		return score.RunItem(s.Run, s.TestCase, s.Epoch)
	case s.Span != "":
		return score.Subject{Kind: score.KindSpan, ID: s.Trace, Part: s.Span}
	case s.Trace != "":
		return score.Subject{Kind: score.KindTrace, ID: s.Trace}
	}
	return score.Subject{}
}

// subjectOf is the subject that scores name, if an item can be about it.
func subjectOf(of score.Subject) (s Subject, ok bool) {
	switch of.Kind {
	case score.KindRunItem:
		item, epoch, _ := strings.Cut(of.Part, "/")
		var errs [3]error
		s.Run, errs[0] = strconv.ParseInt(of.ID, 10, 64)
		s.TestCase, errs[1] = strconv.ParseInt(item, 10, 64)
		s.Epoch, errs[2] = strconv.Atoi(epoch)
		return s, errors.Join(errs[:]...) == nil
	case score.KindTrace:
		return Subject{Trace: of.ID}, true
	case score.KindSpan:
		return Subject{Trace: of.ID, Span: of.Part}, true
	case score.KindVerdict, score.KindMatch, score.KindConversation:
	}
	return Subject{}, false
}

// unknown is the refusal of a subject that does not exist.
func unknown(path, message string) error {
	return fault.Invalid("body", "/subject"+path, "unknown_reference", message)
}

// ErrTooLarge is returned for an answer that is larger than a dataset could hold.
var ErrTooLarge = fault.New(fault.Validation, "item_too_large", fmt.Sprintf("The answer has more than %d MiB and cannot be adjudicated.", dataset.MaxItemBytes>>20))

// found is a subject with what is known of it.
type found struct {
	subject Subject
	content dataset.Content
	// candidates are the positions that are recorded about it, and apart how far those
	// who hold them disagree at least.
	candidates []Candidate
	apart      float64
}

// find reads what a subject is about. A trace may be named by its number; what is
// returned names it by its id.
func (s *Service) find(ctx context.Context, org principal.OrgID, of Subject) (f found, err error) {
	f.subject = of
	switch {
	case of.Run != 0:
		f.content, err = s.ofRun(ctx, org, of)
	case of.Trace != "":
		f.subject.Trace, f.content, err = s.ofTrace(ctx, org, of)
	case len(of.JudgeResults) > 0:
		return s.ofResults(ctx, org, of)
	default:
		return s.ofAnnotations(ctx, org, of)
	}
	if err != nil {
		return f, err
	}
	if f.content.Bytes() > dataset.MaxItemBytes {
		return f, ErrTooLarge
	}
	f.candidates, err = s.positions(ctx, org, f.subject.scored())
	return f, err
}

func (s *Service) ofRun(ctx context.Context, org principal.OrgID, of Subject) (dataset.Content, error) {
	r, err := s.evaluations.Answer(ctx, org, of.Run, of.TestCase, of.Epoch)
	if fault.IsNotFound(err) {
		return dataset.Content{}, unknown("/testCaseId", "names a result that the run does not have, or the run does not exist")
	}
	c := r.Item.Content
	c.Output = r.Output
	return assessable(c), err
}

func (s *Service) ofTrace(ctx context.Context, org principal.OrgID, of Subject) (string, dataset.Content, error) {
	id, err := s.traces.Resolve(ctx, org, of.Trace)
	var part span.ID
	if err == nil && of.Span != "" {
		var ok bool
		if part, ok = span.ParseID(of.Span); !ok {
			return "", dataset.Content{}, fault.Invalid("body", "/subject/spanId", "pattern", "must be 16 hexadecimal digits that are not all zero")
		}
	}
	var c dataset.Content
	if err == nil {
		c.Input, c.Output, err = s.traces.Payload(ctx, org, id, part)
	}
	if fault.IsNotFound(err) {
		return "", c, unknown("/traceId", "names a trace or a span that does not exist")
	}
	return id.String(), assessable(c), err
}

// ofResults reads what judges judged: one answer. If a run or a trace has it, that is
// what the item is about.
func (s *Service) ofResults(ctx context.Context, org principal.OrgID, of Subject) (f found, err error) {
	f.subject = Subject{JudgeResults: slices.Compact(slices.Sorted(slices.Values(of.JudgeResults)))}
	var first judge.Result
	var digest dataset.Digest
	for i, id := range f.subject.JudgeResults {
		r, err := s.judges.FindResult(ctx, org, id)
		if errors.Is(err, judge.ErrResultNotFound) {
			return f, unknown("/judgeResultIds", fmt.Sprintf("names the result %d, which does not exist", id))
		}
		if err != nil {
			return f, err
		}
		f.candidates = append(f.candidates, candidateOf(r))
		if r.Subject.Kind == score.KindVerdict {
			one, err := dataset.Assessed(r.Input, r.Output)
			if err != nil {
				return f, err
			}
			if i > 0 && (first.Subject.Kind != score.KindVerdict || one != digest) {
				return f, errSeveral
			}
			digest = one
		} else if i > 0 && r.Subject != first.Subject {
			return f, errSeveral
		}
		if i == 0 {
			first = r
		}
	}
	if subject, ok := subjectOf(first.Subject); ok {
		about, err := s.find(ctx, org, subject)
		about.subject.JudgeResults, about.candidates = f.subject.JudgeResults, f.candidates
		return about, err
	}
	f.content = assessable(dataset.Content{Input: first.Input, Output: first.Output})
	return f, nil
}

var errSeveral = fault.Invalid("body", "/subject/judgeResultIds", "unknown_reference", "names results about different answers; an item is about one")

// assessable is content as an item keeps it. What was asked may be unknown, as for a
// trace that recorded its output alone.
func assessable(c dataset.Content) dataset.Content {
	if len(c.Input) == 0 {
		c.Input = []byte("null")
	}
	c.Labels, c.Assertions = nil, nil // what others said of it is among the candidates
	return c
}
