package evidence

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
)

// MaxReports is how many records the events of an envelope may report.
const MaxReports = 5_000

// Producer is who sends an envelope.
type Producer struct{ RuntimeKey, Name, Version, Environment string }

// Defaults are links of events that do not have their own.
type Defaults struct {
	TraceID, ConversationID, ReleaseID string
	EvaluationRunID                    int64
}

// Envelope is events that are sent together.
type Envelope struct {
	Producer Producer
	Defaults Defaults
	// Atomic stores all events or none.
	Atomic bool
	// DryRun says what would become of the events, and stores nothing.
	DryRun bool
	// WithoutPayload stores what was made of an event, and not the event.
	WithoutPayload bool
	// Strict stores only the digests of what went in and came out, and of the events.
	Strict bool
	Events []jsontext.Value
}

// Status is what became of an event.
type Status string

// The statuses.
const (
	Accepted  Status = "accepted"
	Duplicate Status = "duplicate" // the event was received before
	Unmapped  Status = "unmapped"  // it is kept, and read again when a normalizer understands it
	Rejected  Status = "rejected"
)

// Ref names a record.
type Ref struct {
	Resource kind.Name `json:"resource"`
	ID       int64     `json:"id"`
}

// Outcome is what became of one event.
type Outcome struct {
	Index    int
	ID       string
	Status   Status
	RawEvent int64
	Records  []Ref
	Errors   []fault.Field
	Warnings []string
}

// arrival is an event as it came in, or as it is read again, and what becomes of it.
type arrival struct {
	*Outcome
	normal.Event
	result normal.Result
}

// event is an event at a stage of its way to the store: first its reports are parsed, then
// linked, and then complete. Self is the report of the event itself.
type event[R any] struct {
	*arrival
	self    R
	reports []R
}

// all are the reports of events, themselves included.
func all[R any](events []event[R]) (out []R) {
	for _, e := range events {
		out = append(append(out, e.self), e.reports...)
	}
	return out
}

// next are events at their next stage. Reports are those of all, in the same order.
func next[R, N any](events []event[R], reports []N) []event[N] {
	out := make([]event[N], len(events))
	for i, e := range events {
		n := 1 + len(e.reports)
		out[i] = event[N]{e.arrival, reports[0], reports[1:n:n]}
		reports = reports[n:]
	}
	return out
}

// accepted are the events that were not rejected.
func accepted[R any](events []event[R]) []event[R] {
	return slices.DeleteFunc(slices.Clone(events), func(e event[R]) bool { return e.Status == Rejected })
}

func init() {
	hooked[kind.RawEvents] = hooks{begin: func(_ context.Context, r *Record) {
		r.Values[kind.FieldReceivedAt] = kind.TimeValue(r.CreatedAt)
	}}
}

// storeSaid stores what events say. Missing are how many reports of an event were dropped.
func (s *intake) storeSaid(ctx context.Context, org principal.OrgID, events []event[*report], claims map[key]claim) (missing map[*arrival]int, err error) {
	var said []*report
	for _, e := range events {
		for _, r := range e.reports {
			r.links.RawEventID = e.RawEvent
			if r.draft.Kind.Class != kind.Stream && r.Once == (key{}) {
				r.Once = record.Hashed("once", string(e.self.Key[:]), string(r.Key[:]))
			}
		}
		slices.SortStableFunc(e.reports, (*report).compareTurn)
		said = append(said, e.reports...)
	}
	made, err := s.storeReports(ctx, org, said, claims)
	if err != nil {
		return nil, err
	}
	missing = map[*arrival]int{}
	for _, e := range events {
		for _, r := range e.reports {
			switch m := made[r]; m.fate {
			case nameReused:
				e.reject("/data/idempotencyKey", "idempotency_key_reused", reusedName)
			case recordMissing:
				missing[e.arrival]++
			default:
				e.Records = append(e.Records, Ref{m.Kind.Name, m.ID})
			}
		}
		if n := missing[e.arrival]; n > 0 && n == len(e.reports) {
			e.Status = Unmapped
		}
	}
	return missing, nil
}

func (a *arrival) reject(path, code, message string) {
	a.Status = Rejected
	a.Errors = append(a.Errors, fault.Field{In: "body", Path: path, Code: code, Message: message})
}

// refuse rejects the event for faults of a part of it.
func (a *arrival) refuse(part string, fields []fault.Field) {
	for _, f := range fields {
		a.reject(part+f.Path, f.Code, f.Message)
	}
}

// note sets on the record of the event how far it was mapped, and what of it is in no
// record. Missing are the reports that were dropped: the event is read again, when what they
// add to may be there.
func (a *arrival) note(v kind.Values, missing int) error {
	left, version := slices.Clone(a.result.Left), a.result.Version
	if missing > 0 {
		left, version = append(left, "what it adds to a record is left out: the record is not there"), ""
	}
	state := "normalized"
	switch {
	case a.Status == Unmapped:
		state = "unmapped"
	case len(left) > 0:
		state = "partially_normalized"
	}
	v[kind.FieldStatus], v[kind.FieldFormat] = kind.TextValue(state), kind.TextValue(string(a.result.Format))
	v[kind.FieldNormalizerVersion] = kind.TextValue(version)
	delete(v, kind.FieldErrors)
	if len(left) == 0 {
		return nil
	}
	errors := make([]kind.Values, len(left))
	for i, text := range left {
		errors[i] = kind.Values{kind.FieldCode: kind.TextValue("left_out"), kind.FieldMessage: kind.TextValue(text)}
	}
	text, err := json.Marshal(errors, json.Deterministic(true))
	v[kind.FieldErrors] = text
	return err
}

// reuses rejects an event that uses a name again for other content.
func reuses(e event[linked], claims map[key]claim) bool {
	reused := slices.ContainsFunc(e.reports, func(r linked) bool { return r.reuses(claims) })
	if reused {
		e.reject("/data/idempotencyKey", "idempotency_key_reused", reusedName)
	}
	return reused
}
