package evidence

import "slices"

// The kinds that the events of a load make records of.
const (
	rawEvents  = "raw-events"
	tools      = "tool-invocation-evidence"
	steps      = "primitive-step-runs"
	failures   = "failures"
	decisions  = "policy-decisions"
	runtimeRow = "runtimes"
	connectors = "connectors"
	explained  = "eval-explanations"
)

var kinds = []string{rawEvents, tools, steps, explained, failures, decisions, runtimeRow, connectors}

// named is a record by its kind and what names it there, whatever its id is.
type named struct{ kind, name string }

// records are those that the result of an event must name.
func (c calls) records(p place) []named {
	call := func(of place) named { return named{tools, of.runtime() + " " + of.invocation()} }
	switch p.shape() {
	case request, native:
		return []named{call(p)}
	case reply:
		return []named{call(c.asked(p))}
	case chat:
		return []named{{steps, p.trace() + " " + p.span()}}
	case toolSpan:
		return []named{{steps, p.trace() + " " + p.span()}, call(p)}
	case failure:
		return []named{{failures, p.failureKey()}}
	case decision:
		return []named{{decisions, p.decisionKey()}}
	case confirmed:
		return []named{{decisions, p.first().decisionKey()}}
	case nameless:
		return []named{{explained, p.text()}}
	case unmapped:
	}
	return nil
}

// implied are the records that an event leads to without its result naming them.
func (c calls) implied(p place) (all []named) {
	all = append(all, named{runtimeRow, p.runtime()})
	switch {
	case p.shape() == request:
		all = append(all, named{connectors, p.server()})
	case p.shape() == reply:
		all = append(all, named{connectors, c.asked(p).server()})
	case p.refused():
		all = append(all, named{failures, detected(p.runtime(), p.tool())})
	}
	return all
}

// detected names a failure that the platform finds itself.
func detected(runtime, tool string) string { return "detected " + runtime + " " + tool }

// name is what names a record of its kind.
func (r *record) name() named {
	n := named{kind: r.Resource}
	switch r.Resource {
	case rawEvents:
		n.name = r.Source + " " + r.EventID
	case tools:
		n.name = r.RuntimeKey + " " + r.InvocationID
	case steps:
		n.name = r.TraceID + " " + r.SpanID
	case failures:
		n.name = r.FailureKey
		if r.DetectedBy == "rule" {
			n.name = detected(r.RuntimeKey, r.ToolName)
		}
	case explained:
		n.name = r.Explanation
	case decisions:
		n.name = r.IdempotencyKey
	case runtimeRow:
		n.name = r.RuntimeKey
	case connectors:
		n.name = r.ConnectorKey
	}
	return n
}

// expectation is what an organization must have, according to a ledger.
type expectation struct {
	records map[named]bool
	// occurrences are how often a failure was reported, by events that differ.
	occurrences map[named]int
}

func (c calls) expect(places []place) expectation {
	e := expectation{map[named]bool{}, map[named]int{}}
	for _, p := range places {
		all := slices.Concat(c.records(p), c.implied(p))
		for _, n := range all {
			e.records[n] = true
			if n.kind == failures {
				e.occurrences[n]++
			}
		}
	}
	return e
}
