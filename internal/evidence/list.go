package evidence

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// List selects records of a kind.
type List struct {
	Kind                        *kind.Kind
	Filters                     []filter
	CreatedAfter, CreatedBefore *time.Time
	// Below continues under an id; zero begins with the newest.
	Below         int64
	Limit, Offset int
	Count         bool
	// Inapplicable are parameters of fields that the kind does not have: nothing
	// matches them.
	Inapplicable []string
}

// filter is a condition: a column, or one of two, has one of some values.
type filter struct {
	column string
	also   string
	values any // []string, []int64 or [][]byte
}

// columns are the columns that may have the value.
func (f filter) columns() []string {
	if f.also == "" {
		return []string{f.column}
	}
	return []string{f.column, f.also}
}

// either is the condition for each column.
func (f filter) either(format string) (out []string) {
	for _, c := range f.columns() {
		out = append(out, fmt.Sprintf(format, c))
	}
	return out
}

// parameters are the list parameters and the columns that they ask for.
var parameters = map[string]string{
	"idempotencyKey": "idempotency_key", "runtimeId": "runtime_id", "runtimeKey": "runtime_key", "connectorId": "connector_id", "connectorKey": "connector_key",
	"traceId": "trace_id", "evaluationRunId": "evaluation_run_id", "rawEventId": "raw_event_id", "primitiveStepRunId": "step_id",
	"toolInvocationEvidenceId": "tool_id", "invocationId": "invocation_id", "policyDecisionId": "decision_id", "sideEffectLedgerId": "effect_id",
	"evalExplanationId": "explanation_id", "connectorReadinessReportId": "report_id", "failureKey": "failure_key", "failureMode": "failure_mode",
	"primitiveType": "primitive_type", "sideEffectClass": "side_effect_class", "decision": "decision", "status": "state", "state": "state",
}

// restrict adds a condition of a parameter, or notes that it does not apply.
func (l *List) restrict(parameter string, values any) {
	k := l.Kind
	switch {
	case parameter == "status" || parameter == "state":
		if k.Lifecycle == "" || k.Lifecycle == "decision" {
			l.Inapplicable = append(l.Inapplicable, parameter)
			return
		}
	case k.KeyField != "" && parameter == kind.Camel(k.KeyField):
		l.Filters = append(l.Filters, filter{column: "name", values: values})
		return
	case parameter == k.IDFilter:
		f := filter{column: "id", values: values}
		if parameter == "primitiveStepRunId" || parameter == "sideEffectLedgerId" { // with what belongs to it
			f.also = parameters[parameter]
		}
		l.Filters = append(l.Filters, f)
		return
	case !slices.Contains(k.Selects(), parameter):
		l.Inapplicable = append(l.Inapplicable, parameter)
		return
	}
	l.Filters = append(l.Filters, filter{column: parameters[parameter], values: values})
}

// Find returns one record.
func (s *Service) Find(ctx context.Context, org principal.OrgID, k *kind.Kind, id int64) (Record, error) {
	if k.Class == kind.State {
		r, err := s.store.find(ctx, s.db.Org(org), org, k, id)
		if err != nil {
			return Record{}, err
		}
		return s.numbered(ctx, org, r)
	}
	all, err := s.store.some(ctx, org, []kind.Name{k.Name}, []int64{id})
	if err != nil {
		return Record{}, err
	}
	if len(all) == 0 {
		return Record{}, ErrNotFound
	}
	return s.numbered(ctx, org, all[0])
}

// List returns a page of records, newest first, with one more than the limit if there is
// a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, l List) (page []Record, total int64, err error) {
	if len(l.Inapplicable) > 0 {
		return nil, 0, nil
	}
	if l, err = s.indirect(ctx, org, l); err != nil {
		return nil, 0, err
	}
	if l.Kind.Class == kind.State {
		page, total, err = s.store.list(ctx, org, l)
	} else {
		page, err = s.store.page(ctx, org, l)
		if err == nil && l.Count {
			total, err = s.store.total(ctx, org, l)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	return page, total, s.number(ctx, org, page)
}

// indirect replaces a condition on something that points to the records by one on the
// records themselves.
func (s *Service) indirect(ctx context.Context, org principal.OrgID, l List) (List, error) {
	for i, f := range l.Filters {
		var from kind.Name
		var field string
		switch {
		case f.column == "effect_id" && l.Kind.Name == "tool-invocation-evidence":
			from, field = "side-effect-ledger", "tool_invocation_evidence_id"
		case f.column == "report_id" && l.Kind.Name == "connectors":
			from = "connector-readiness-reports"
		default:
			continue
		}
		ids, _ := f.values.([]int64)
		all, err := s.store.findAll(ctx, org, ids)
		if err != nil {
			return l, err
		}
		found := []int64{0}
		for _, r := range all {
			switch {
			case r.Kind.Name != from:
			case field == "":
				found = append(found, r.ConnectorID)
			default:
				found = append(found, r.Values.Integer(field))
			}
		}
		l.Filters = slices.Clone(l.Filters)
		l.Filters[i] = filter{column: "id", values: found}
	}
	return l, nil
}

// number finds out the numbers of the traces that records belong to.
func (s *Service) number(ctx context.Context, org principal.OrgID, page []Record) error {
	var traces []span.TraceID
	for _, r := range page {
		if r.Trace != (span.TraceID{}) {
			traces = append(traces, r.Trace)
		}
	}
	numbers, err := s.traces.Numbers(ctx, org, traces)
	for i := range page {
		page[i].Number = numbers[page[i].Trace]
	}
	return err
}

func (s *Service) numbered(ctx context.Context, org principal.OrgID, r Record) (Record, error) {
	one := []Record{r}
	err := s.number(ctx, org, one)
	return one[0], err
}
