package record

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
		Name: v.Text(r.Kind.KeyField), Decision: v.Text("decision"), Step: v.Integer("primitive_step_run_id"), Tool: v.Integer("tool_invocation_evidence_id"), DecisionID: v.Integer("policy_decision_id"),
		Effect: v.Integer("side_effect_ledger_id"), Explanation: v.Integer("eval_explanation_id"), Report: v.Integer("latest_readiness_report_id"),
		Invocation: v.Text("invocation_id"), FailureKey: v.Text("failure_key"), FailureMode: v.Text("failure_mode"), Class: v.Text("side_effect_class"),
		Primitive: v.Text("primitive_type"),
	}
	if r.Kind.Lifecycle != "decision" {
		c.State = r.State()
	}
	if parent := v.Integer("parent_step_run_id"); parent != 0 {
		c.Step = parent
	}
	if undone := v.Integer("compensates_id"); undone != 0 {
		c.Effect = undone
	}
	return c
}
