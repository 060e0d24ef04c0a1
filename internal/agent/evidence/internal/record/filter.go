package record

import "github.com/assayhq/assay/internal/agent/evidence/kind"

// Filters are the values of a record that filters ask for.
type Filters struct {
	Name, State, Decision                                 string
	Step, Tool, DecisionID, Effect, Explanation, Report   int64
	Invocation, FailureKey, FailureMode, Class, Primitive string
}

// Filters returns what filters ask for.
func (r *Record) Filters() Filters {
	v := r.Values
	c := Filters{
		Name: v.Text(r.Kind.KeyField), Decision: v.Decision(), Step: v.PrimitiveStepRunID(), Tool: v.ToolInvocationEvidenceID(), DecisionID: v.PolicyDecisionID(),
		Effect: v.SideEffectLedgerID(), Explanation: v.EvalExplanationID(), Report: v.LatestReadinessReportID(),
		Invocation: v.InvocationID(), FailureKey: v.FailureKey(), FailureMode: v.FailureMode(), Class: v.SideEffectClass(),
		Primitive: v.PrimitiveType(),
	}
	if r.Kind.Lifecycle != kind.FieldDecision {
		c.State = r.State()
	}
	if parent := v.ParentStepRunID(); parent != 0 {
		c.Step = parent
	}
	if undone := v.CompensatesID(); undone != 0 {
		c.Effect = undone
	}
	return c
}
