package evidence

import (
	"context"
	"maps"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

func init() { hooked[kind.Runtimes] = hooks{begin: beginRuntime, refresh: heard} }

func beginRuntime(_ context.Context, r *Record) {
	r.Values[kind.FieldFirstSeenAt], r.Values[kind.FieldLastSeenAt] = kind.TimeValue(r.CreatedAt), kind.TimeValue(r.CreatedAt)
}

// heardEvery is how often it is noted that a runtime was heard of.
const heardEvery = time.Minute

// heard adds what a runtime says about itself, or notes now and then that it was heard of.
func heard(before, after Record, r *report) refreshed {
	said := r.draft.Values
	if before.Values.Environment() != "" {
		// Policies depend on it: a runtime does not choose which ones it is under.
		said = maps.Clone(said)
		delete(said, kind.FieldEnvironment)
	}
	record.Revise(before.Values, after.Values, said)
	same := record.Same(before.Values, after.Values, kind.FieldLastSeenAt)
	after.Values[kind.FieldLastSeenAt] = kind.TimeValue(after.UpdatedAt)
	switch {
	case !same:
		return refreshed{after: after, did: happened(&before, &after)}
	case after.UpdatedAt.Sub(before.Values.LastSeenAt()) < heardEvery:
		return refreshed{after: before}
	}
	return refreshed{after: after, noted: true}
}
