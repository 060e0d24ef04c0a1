package annotation

import (
	"context"
	"strconv"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/review/annotation/internal/gather"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// subjectInput names what an item or an annotation is about; an empty text names
// nothing.
type subjectInput struct{ Run, TestCase, Trace, Span string }

// named are the runs and traces that a request has named so far: each is looked up
// once, however many items are about it.
type named struct {
	runs   map[string]evaluation.Run
	traces map[string]span.TraceID
}

func newNamed() named { return named{map[string]evaluation.Run{}, map[string]span.TraceID{}} }

// subject finds what a request names. At is the place of the names in the body.
func (s *Service) subject(ctx context.Context, org principal.OrgID, in subjectInput, at string, known named) (Subject, error) {
	out := Subject{Span: in.Span}
	run, found := known.runs[in.Run]
	if in.Run != "" && !found {
		id, err := strconv.ParseInt(in.Run, 10, 64)
		if err == nil {
			run, err = s.evaluations.RunOf(ctx, org, id)
		} else {
			err = evaluation.ErrRunNotFound
		}
		if err != nil {
			return out, gather.Unknown(err, at+"/evaluationRunId", "is not the id of a run")
		}
		known.runs[in.Run] = run
	}
	out.Run = run.ID
	if in.TestCase != "" {
		id, err := strconv.ParseInt(in.TestCase, 10, 64)
		if err != nil {
			return out, fault.Invalid("body", at+"/testCaseId", "unknown_reference", "is not the id of an item")
		}
		if err := s.inRun(ctx, org, run, id); err != nil {
			return out, gather.Unknown(err, at+"/testCaseId", "is not an item of the run")
		}
		out.TestCase = id
	}
	if in.Trace != "" {
		id, found := known.traces[in.Trace]
		if !found {
			var err error
			if id, err = s.traces.Resolve(ctx, org, in.Trace); err != nil {
				return out, gather.Unknown(err, at+"/traceId", "is not the id of a trace")
			}
			known.traces[in.Trace] = id
		}
		out.Trace = &id
	}
	return out, nil
}

// inRun refuses an item that a run does not have. Without a run, or before the run
// knows its items, any is accepted.
func (s *Service) inRun(ctx context.Context, org principal.OrgID, r evaluation.Run, item int64) error {
	if r.Resolved == nil {
		return nil
	}
	found, _, err := s.datasets.ItemsByID(ctx, org, r.Resolved.Dataset, r.Resolved.Version, []int64{item})
	if _, ok := found[item]; err == nil && !ok {
		err = evaluation.ErrResultNotFound
	}
	return err
}
