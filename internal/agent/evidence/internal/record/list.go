package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// PageBytes is where a page of records ends, however few there are.
const PageBytes = 16 << 20

// List selects records of a kind.
type List struct {
	Kind                        *kind.Kind
	Filters                     []Filter
	CreatedAfter, CreatedBefore *time.Time
	// Below continues under an id; zero begins with the newest.
	Below         int64
	Limit, Offset int
	Count         bool
	// Inapplicable are parameters of fields that the kind does not have: nothing
	// matches them.
	Inapplicable []string
	// Nothing says that a parameter names what does not exist.
	Nothing bool
}

// Filter is a condition: a column, or one of two, has one of some values.
type Filter struct {
	Column string
	Also   string
	Values any // []string, []int64 or, for one trace, [][]byte
}

// Columns are the columns that may have the value.
func (f Filter) Columns() []string {
	if f.Also == "" {
		return []string{f.Column}
	}
	return []string{f.Column, f.Also}
}

// Either is the condition on the columns.
func (f Filter) Either(format string) string {
	var out []string
	for _, c := range f.Columns() {
		out = append(out, fmt.Sprintf(format, c))
	}
	return "(" + strings.Join(out, " OR ") + ")"
}

// Single is the value, if there is only one.
func (f Filter) Single() (value any, ok bool) {
	switch v := f.Values.(type) {
	case []string:
		return v[0], len(v) == 1
	case []int64:
		return v[0], len(v) == 1
	case [][]byte:
		return v[0], len(v) == 1
	}
	return nil, false
}

// Array is the type of the values in PostgreSQL.
func (f Filter) Array() string {
	if _, ok := f.Values.([]int64); ok {
		return "::bigint[]"
	}
	return "::text[]"
}

// parameters are the list parameters and the columns that they ask for.
var parameters = map[string]string{
	"idempotencyKey": "idempotency_key", "runtimeId": "runtime_id", "runtimeKey": "runtime_key", "connectorId": "connector_id", "connectorKey": "connector_key",
	"traceId": "trace_id", "evaluationRunId": "evaluation_run_id", "rawEventId": "raw_event_id", "primitiveStepRunId": "step_id",
	"toolInvocationEvidenceId": "tool_id", "invocationId": "invocation_id", "policyDecisionId": "decision_id", "sideEffectLedgerId": "effect_id",
	"evalExplanationId": "explanation_id", "connectorReadinessReportId": "report_id", "reportKey": "report_key", "failureKey": "failure_key", "failureMode": "failure_mode",
	"primitiveType": "primitive_type", "sideEffectClass": "side_effect_class", "decision": "decision", "status": "state", "state": "state",
}

// Restrict adds a condition of a parameter, or notes that it does not apply.
func (l *List) Restrict(parameter string, values any) {
	k := l.Kind
	switch {
	case parameter == "status" || parameter == "state":
		if k.Lifecycle == "" || k.Lifecycle == kind.FieldDecision {
			l.Inapplicable = append(l.Inapplicable, parameter)
			return
		}
	case k.KeyField != "" && parameter == kind.Camel(k.KeyField):
		l.Filters = append(l.Filters, Filter{Column: "name", Values: values})
		return
	case parameter == k.IDFilter:
		f := Filter{Column: "id", Values: values}
		if parameter == "primitiveStepRunId" || parameter == "sideEffectLedgerId" { // with what belongs to it
			f.Also = parameters[parameter]
		}
		l.Filters = append(l.Filters, f)
		return
	case !slices.Contains(k.Selects(), parameter):
		l.Inapplicable = append(l.Inapplicable, parameter)
		return
	}
	l.Filters = append(l.Filters, Filter{Column: parameters[parameter], Values: values})
}

// MaxOfTrace is how many records of each class a timeline shows.
const MaxOfTrace = 2_000

// Unshown are the members of records that a timeline has no use for, and that can be large.
var Unshown = []string{
	kind.FieldArguments, kind.FieldAssertions, kind.FieldChecks, kind.FieldCompensation, kind.FieldConstraints, kind.FieldCounterfactual,
	kind.FieldDelegation, kind.FieldDivergences, kind.FieldDrift, kind.FieldEvidence, kind.FieldFiles, kind.FieldInput, kind.FieldMetrics,
	kind.FieldObligations, kind.FieldOutput, kind.FieldPayload, kind.FieldRecordedToolResults, kind.FieldRedactions, kind.FieldRequest,
	kind.FieldResult, kind.FieldSourceRefs, kind.FieldSteps, kind.FieldSuggestedRules, kind.FieldTools,
}
