package evidence

import "time"

// Timeline is everything known about a trace, as the server answers it. Entries are
// the lines of a tree from top to bottom.
type Timeline struct {
	Entries []Entry   `json:"entries"`
	Missing []string  `json:"missing"`
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
}

// Entry is a record in its place.
type Entry struct {
	Resource string     `json:"resource"`
	ID       int64      `json:"id"` // zero for a step that was read from a span
	At       time.Time  `json:"at"`
	EndedAt  *time.Time `json:"ended_at"`
	Depth    int        `json:"depth"`
	Title    string     `json:"title"`
	Status   string     `json:"state"`
	Summary  string     `json:"summary"`
	Action   *Action    `json:"action"`
}

// Action is what belongs to one call of a tool.
type Action struct {
	InvocationID    string   `json:"invocation_id"`
	Tool            string   `json:"tool"`
	Connector       string   `json:"connector"`
	SideEffectClass string   `json:"side_effect_class"`
	Marks           []Mark   `json:"marks"`
	Missing         []string `json:"missing"`
}

// Mark says how one stage of an action stands.
type Mark struct {
	Stage string     `json:"stage"`
	State string     `json:"state"`
	At    *time.Time `json:"at"`
	By    *Ref       `json:"by"`
	Note  string     `json:"note"`
}

// Ref names a record.
type Ref struct {
	Resource string `json:"resource"`
	ID       int64  `json:"id"`
}
