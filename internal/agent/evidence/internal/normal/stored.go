package normal

import (
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/internal/detect"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Unnamed is the runtime of spans whose resource does not name a service, as
// OpenTelemetry has it.
const Unnamed = "unknown_service"

// Stored returns what a span says that a trace has. Its runtime is the service. A step is
// among the reports only if it shows a failure: it stays in the trace.
func Stored(r *span.Record) []Report {
	n := &normalizer{runtime: plain(string(r.Service))}
	if n.runtime == "" {
		n.runtime = Unnamed
	}
	s := spans{n: n}
	s.take(r)
	return slices.DeleteFunc(n.result.Reports, func(one Report) bool {
		switch one.Kind.Name {
		case kind.PrimitiveStepRuns:
			return len(detect.Failures(one.Kind, nil, one.Values)) == 0
		case kind.SideEffectLedger: // what an entry says first stays
			return r.End == 0
		}
		return false
	})
}
