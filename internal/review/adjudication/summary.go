package adjudication

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Summary is how the queue stands.
type Summary struct {
	ByStatus   map[Status]int64
	BySource   map[Source]int64
	ByPriority map[Priority]int64
	// Open are the items that wait for a decision, and Unassigned those of them that
	// nobody has.
	Open, Unassigned, Overdue int64
	OldestAt                  *time.Time
	Median, P90               *time.Duration // that undecided items have waited
	DecidedLately             int64
	// Overturned is the share of decisions that went against the judges.
	Overturned stat.Estimate
	Assignees  []Workload
}

// Workload is what one person has to decide and has decided.
type Workload struct {
	User          uuid.UUID
	Open          int64
	DecidedLately int64
}

// lately is how far back recent decisions are counted.
const lately = 7 * 24 * time.Hour

// Summary returns how the queue stands now.
func (s *Service) Summary(ctx context.Context, org principal.OrgID) (Summary, error) {
	now := s.now()
	q, err := s.store.summary(ctx, org, now, now.Add(-lately))
	if err != nil {
		return Summary{}, err
	}
	out := q.Summary
	out.Open, out.Unassigned = out.ByStatus[StatusOpen]+out.ByStatus[StatusAssigned], out.ByStatus[StatusOpen]
	people := map[uuid.UUID]*Workload{}
	of := func(user uuid.UUID) *Workload {
		if people[user] == nil {
			people[user] = &Workload{User: user}
		}
		return people[user]
	}
	for user, n := range q.open {
		of(user).Open = n
	}
	for user, n := range q.decided {
		of(user).DecidedLately = n
		out.DecidedLately += n
	}
	for _, w := range people {
		out.Assignees = append(out.Assignees, *w)
	}
	slices.SortFunc(out.Assignees, func(a, b Workload) int {
		return cmp.Or(cmp.Compare(b.Open, a.Open), cmp.Compare(b.DecidedLately, a.DecidedLately), cmp.Compare(a.User.String(), b.User.String()))
	})
	out.Overturned, err = stat.Proportion(int(q.overturned), int(q.compared), stat.Options{})
	return out, err
}

// zeros has a count for each value, so that none is missing from a summary.
func zeros[T ~string](values ...T) map[T]int64 {
	out := make(map[T]int64, len(values))
	for _, v := range values {
		out[v] = 0
	}
	return out
}
