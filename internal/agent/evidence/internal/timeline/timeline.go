package timeline

import (
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// The kinds that the timeline knows how to place.
const (
	steps        kind.Name = kind.PrimitiveStepRuns
	calls        kind.Name = kind.ToolInvocationEvidence
	decisions    kind.Name = kind.PolicyDecisions
	approvals    kind.Name = kind.Approvals
	ledger       kind.Name = kind.SideEffectLedger
	failures     kind.Name = kind.Failures
	explanations kind.Name = kind.EvalExplanations
	cases        kind.Name = kind.QualityCases
	events       kind.Name = kind.RawEvents
)

// Record is a record of evidence, or a step read from a span, which has no id.
type Record struct {
	Kind   kind.Name
	ID     int64
	Values kind.Values
	At     time.Time // when it occurred
	// Span and Parent are ids of spans. Either may be empty.
	Span, Parent string
	// Origin is who says so: platform, ingested or reported; empty for a span.
	Origin string
}

// Ref names a record.
type Ref struct {
	Resource kind.Name `json:"resource"`
	ID       int64     `json:"id"`
}

// Stage is one of the separate facts about an action.
type Stage string

// The stages, in their order.
const (
	StageRequested    Stage = "requested"
	StageAuthorized   Stage = "authorized"
	StageDispatched   Stage = "dispatched"
	StageAcknowledged Stage = "acknowledged"
	StageVerified     Stage = "verified"
)

// What a mark can say.
const (
	StateDone      = "done"
	StateDenied    = "denied"
	StateFailed    = "failed"
	StateMissing   = "missing"    // expected, and not recorded
	StateWaiting   = "waiting"    // may still come
	StateNotNeeded = "not_needed" // not expected
)

// Mark says how one stage of an action stands.
type Mark struct {
	Stage Stage  `json:"stage"`
	State string `json:"state"`
	// At is when it happened, if that is known.
	At *time.Time `json:"at,omitzero"`
	// By is the record that says so.
	By   *Ref   `json:"by,omitzero"`
	Note string `json:"note,omitzero"`
}

// Action joins what belongs to one call of a tool, or to a side effect that no call
// explains.
type Action struct {
	InvocationID    string `json:"invocation_id"`
	Tool            string `json:"tool"`
	Connector       string `json:"connector"`
	SideEffectClass string `json:"side_effect_class"`
	// Marks are always the five stages, in order.
	Marks []Mark `json:"marks"`
	// Missing says in sentences what would be expected and is not there.
	Missing []string `json:"missing"`
	// Decision is the one that the action's authorization rests on, and Approval the
	// last of those about the action.
	Decision *Ref  `json:"decision,omitzero"`
	Approval *Ref  `json:"approval,omitzero"`
	Ledger   []Ref `json:"ledger"`
	Failures []Ref `json:"failures"`
}

// Entry is a record in its place.
type Entry struct {
	Resource kind.Name  `json:"resource"`
	ID       int64      `json:"id"`
	At       time.Time  `json:"at"`
	EndedAt  *time.Time `json:"ended_at,omitzero"`
	Depth    int        `json:"depth"`
	Title    string     `json:"title"`
	Status   string     `json:"status"`
	Summary  string     `json:"summary"`
	Span     string     `json:"span,omitzero"`
	// Origin is that of the record.
	Origin string `json:"origin,omitzero"`
	// Parent is the index of the entry that this one is below, or -1.
	Parent int     `json:"parent"`
	Action *Action `json:"action,omitzero"`
}

// Timeline is everything known about a trace.
type Timeline struct {
	Entries []Entry `json:"entries"`
	// Missing says what the trace as a whole lacks. What an action lacks is with the
	// action.
	Missing []string `json:"missing"`
	// Start and End are the earliest and the latest time that is recorded; zero if
	// there is none.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}
