package adjudication

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

// summaryBody is the state of the queue on the wire.
type summaryBody struct {
	ByStatus          map[string]int64           `json:"by_status" doc:"All items by status."`
	BySource          map[string]int64           `json:"by_source" doc:"Undecided items (open or assigned) by source."`
	ByPriority        map[string]int64           `json:"by_priority" doc:"Undecided items by priority."`
	OpenTotal         int64                      `json:"open_total" doc:"Undecided items."`
	Unassigned        int64                      `json:"unassigned" doc:"Undecided items without an assignee."`
	Overdue           int64                      `json:"overdue" doc:"Undecided items whose due time has passed."`
	OldestOpenAt      httpapi.Null[httpapi.Time] `json:"oldest_open_at" doc:"When the oldest undecided item was opened; null if there is none."`
	MedianAgeSeconds  *float64                   `json:"median_age_seconds" doc:"Median age of undecided items; null if there is none."`
	P90AgeSeconds     *float64                   `json:"p90_age_seconds" doc:"Age that 90 % of the undecided items do not exceed; null if there is none."`
	DecidedLast7d     int64                      `json:"decided_last_7d" doc:"Standing decisions of the last seven days."`
	JudgeOverturnRate *float64                   `json:"judge_overturn_rate" doc:"Share of standing decisions that go against the judges, of those where the judges agreed; null if there is none. It describes adjudicated answers, which were chosen because something spoke against them, and no others."`
	Statistics        summaryStatistics          `json:"statistics" doc:"The rate with n, interval and method."`
	ByAssignee        []workloadBody             `json:"by_assignee" doc:"People with undecided items or recent decisions, those with most undecided items first."`
}

type summaryStatistics struct {
	JudgeOverturnRate stat.Estimate `json:"judge_overturn_rate" doc:"How often decisions go against the judges."`
}

type workloadBody struct {
	UserID    string `json:"user_id" doc:"Member."`
	Open      int64  `json:"open" doc:"Undecided items assigned to the member."`
	Decided7d int64  `json:"decided_7d" doc:"Standing decisions of the member in the last seven days."`
}

func (s *Service) getSummary(ctx context.Context, _ *struct{}) (*httpapi.Body[summaryBody], error) {
	sum, err := s.Summary(ctx, principal.From(ctx).Org)
	if err != nil {
		return nil, err
	}
	b := summaryBody{
		ByStatus: texts(sum.ByStatus), BySource: texts(sum.BySource), ByPriority: texts(sum.ByPriority), OpenTotal: sum.Open, Unassigned: sum.Unassigned, Overdue: sum.Overdue,
		OldestOpenAt: httpapi.NullTime(sum.OldestAt), MedianAgeSeconds: seconds(sum.Median), P90AgeSeconds: seconds(sum.P90), DecidedLast7d: sum.DecidedLately,
		JudgeOverturnRate: sum.Overturned.Value, Statistics: summaryStatistics{sum.Overturned}, ByAssignee: []workloadBody{},
	}
	for _, w := range sum.Assignees {
		b.ByAssignee = append(b.ByAssignee, workloadBody{UserID: w.User.String(), Open: w.Open, Decided7d: w.DecidedLately})
	}
	return httpapi.NewBody(b), nil
}

func texts[T ~string](counts map[T]int64) map[string]int64 {
	out := make(map[string]int64, len(counts))
	for k, n := range counts {
		out[string(k)] = n
	}
	return out
}

func seconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return new(d.Seconds())
}
