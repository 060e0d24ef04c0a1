package people

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// verdict is what became of the work.
type verdict struct {
	items, annotations, skips, decisions, given, refused, seen int

	givenTwice   int // slots that two people had at the same time
	lost         int // acknowledged answers, skips and decisions that are not there
	decidedTwice int // items with more than one decision
	miscounted   int // counts that are not those of the rows
	leaks        int // words that were shown too early

	rig.Examples
}

func (v verdict) String() string {
	return fmt.Sprintf("checked: items %d given %d annotations %d skips %d decisions %d refused %d seen %d given_twice %d lost %d decided_twice %d miscounted %d leaks %d",
		v.items, v.given, v.annotations, v.skips, v.decisions, v.refused, v.seen, v.givenTwice, v.lost, v.decidedTwice, v.miscounted, v.leaks)
}

// guilty is an error if anything is not as it must be, or if the load was not one that
// could have shown it.
func (v verdict) guilty() error {
	switch {
	case v.givenTwice+v.lost+v.decidedTwice+v.miscounted+v.leaks > 0:
		return fmt.Errorf("%s\n%s", v, v.Examples)
	case v.annotations == 0 || v.decisions == 0:
		return fmt.Errorf("nobody worked: %s", v)
	case v.refused == 0:
		return fmt.Errorf("no two people decided about the same item at the same time: %s", v)
	case v.seen == 0:
		return fmt.Errorf("readers never saw what others said about a complete item, so that the search proves nothing: %s", v)
	}
	return nil
}

// verdict compares what people know with what is stored and what the API counts.
func (l *load) verdict(ctx context.Context) (verdict, error) {
	v := l.found
	v.items, v.annotations, v.given, v.refused, v.seen, v.decisions = l.items, len(l.answers), l.given, l.refused, l.seen, len(l.decisions)
	for _, check := range []func(context.Context, *verdict) error{l.stored, l.slots, l.decidedOnce, l.counts, l.summary} {
		if err := check(ctx, &v); err != nil {
			return v, err
		}
	}
	return v, nil
}

// rows reads rows of the organization.
func rows[T any](ctx context.Context, l *load, sql string, args ...any) ([]T, error) {
	found, err := l.s.rows.Query(ctx, sql, append([]any{l.s.org.ID}, args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[T])
}

// numbers are the people by their ids.
func (l *load) numbers() map[string]int {
	out := map[string]int{}
	for _, p := range l.s.annotators {
		out[p.member] = p.number
	}
	for _, p := range l.s.adjudicators {
		out[p.member] = p.number
	}
	return out
}

// stored holds acknowledged answers and skips against the tables.
func (l *load) stored(ctx context.Context, v *verdict) error {
	type row struct {
		ID, Item int64
		Person   string
		Answer   string
	}
	answers, err := rows[row](ctx, l, "SELECT id, item_id, person::text, answer::text FROM annotations WHERE org_id = $1 AND task_id = $2 AND status = 'submitted' AND deleted_at IS NULL", l.task)
	if err != nil {
		return err
	}
	who, have := l.numbers(), map[int64]row{}
	for _, r := range answers {
		have[r.ID] = r
	}
	for id, a := range l.answers {
		r, ok := have[id]
		if !ok || r.Item != a.item || who[r.Person] != a.person || !strings.Contains(r.Answer, words(a.person, a.item)) || !strings.Contains(r.Answer, `"`+a.label+`"`) {
			v.lost++
			v.Example("annotation %d of person %d about item %d was acknowledged, and there is %+v", id, a.person, a.item, r)
		}
	}
	type skip struct {
		Item   int64
		Person string
	}
	skips, err := rows[skip](ctx, l, "SELECT s.item_id, s.person::text FROM annotation_skips s JOIN annotation_items i ON i.org_id = s.org_id AND i.id = s.item_id WHERE s.org_id = $1 AND i.task_id = $2", l.task)
	if err != nil {
		return err
	}
	there := map[int64]map[int]bool{}
	for _, s := range skips {
		note(there, s.Item, who[s.Person], true)
	}
	for item, all := range l.skips {
		for p := range all {
			if v.skips++; !there[item][p] {
				v.lost++
				v.Example("person %d skipped item %d, and that is not there", p, item)
			}
		}
	}
	return nil
}

// slots looks for items with more people than they need, and for such without enough.
func (l *load) slots(ctx context.Context, v *verdict) error {
	type row struct {
		Item   int64
		Status string
		People int
	}
	all, err := rows[row](ctx, l, `SELECT i.id, i.status, (SELECT count(*) FROM annotations a WHERE a.org_id = i.org_id AND a.item_id = i.id AND a.status = 'submitted' AND a.deleted_at IS NULL)
		FROM annotation_items i WHERE i.org_id = $1 AND i.task_id = $2`, l.task)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.People > l.required {
			v.givenTwice++
			v.Example("item %d has %d answers and needs %d", r.Item, r.People, l.required)
		}
		if r.People < l.required && r.Status != "skipped" {
			v.lost++
			v.Example("item %d is %s with %d answers", r.Item, r.Status, r.People)
		}
	}
	return nil
}

// decidedOnce looks for items with several decisions, and for decisions that are gone.
func (l *load) decidedOnce(ctx context.Context, v *verdict) error {
	type row struct {
		ID, Item int64
		Person   string
	}
	all, err := rows[row](ctx, l, "SELECT id, item_id, decider_id::text FROM adjudication_decisions WHERE org_id = $1")
	if err != nil {
		return err
	}
	who, have := l.numbers(), map[int64]map[int64]int{}
	for _, r := range all {
		note(have, r.Item, r.ID, who[r.Person])
	}
	for item, made := range have {
		if len(made) > 1 || len(l.decisions[item]) > 1 {
			v.decidedTwice++
			v.Example("item %d has the decisions %v, of which %v were acknowledged", item, made, l.decisions[item])
		}
	}
	for item, made := range l.decisions {
		for id, p := range made {
			if by, ok := have[item][id]; !ok || by != p {
				v.lost++
				v.Example("decision %d of person %d about item %d was acknowledged and is not there", id, p, item)
			}
		}
	}
	return nil
}

// counts holds the counts of the task and its items against rows.
func (l *load) counts(ctx context.Context, v *verdict) error {
	type row struct{ Rows, Done, Wrong int }
	found, err := rows[row](ctx, l, `SELECT count(*), count(*) FILTER (WHERE i.status IN ('annotated', 'conflicted', 'adjudicated', 'skipped')),
			count(*) FILTER (WHERE i.submitted <> (SELECT count(*) FROM annotations a WHERE a.org_id = i.org_id AND a.item_id = i.id AND a.status = 'submitted' AND a.deleted_at IS NULL)
				OR i.held <> (SELECT count(*) FROM annotation_leases l WHERE l.org_id = i.org_id AND l.item_id = i.id)
				OR i.skipped <> (SELECT count(*) FROM annotation_skips s WHERE s.org_id = i.org_id AND s.item_id = i.id))
		FROM annotation_items i WHERE i.org_id = $1 AND i.task_id = $2`, l.task)
	if err != nil {
		return err
	}
	var task struct {
		Status    string `json:"status"`
		Total     int    `json:"total_items"`
		Completed int    `json:"completed_items"`
	}
	if err := l.s.Insist(ctx, l.s.org, http.MethodGet, fmt.Sprintf("/api/annotations/tasks/%d", l.task), "", nil, &task); err != nil {
		return err
	}
	r := found[0]
	if task.Total != r.Rows || task.Completed != r.Done || r.Wrong > 0 || task.Status != "completed" {
		v.miscounted++
		v.Example("the task says %+v, its items are %+v", task, r)
	}
	return nil
}

// summary holds the summary of the queue against rows.
func (l *load) summary(ctx context.Context, v *verdict) error {
	type row struct {
		Status string
		Items  int
	}
	found, err := rows[row](ctx, l, "SELECT status, count(*) FROM adjudication_items WHERE org_id = $1 GROUP BY status")
	if err != nil {
		return err
	}
	decisions, err := rows[struct{ N int }](ctx, l, "SELECT count(*) FROM adjudication_decisions WHERE org_id = $1 AND superseded_at IS NULL")
	if err != nil {
		return err
	}
	var said struct {
		ByStatus  map[string]int `json:"by_status"`
		OpenTotal int            `json:"open_total"`
		Decided   int            `json:"decided_last_7d"`
	}
	if err := l.s.Insist(ctx, l.s.org, http.MethodGet, "/api/adjudication/queue-summary", "", nil, &said); err != nil {
		return err
	}
	maps.DeleteFunc(said.ByStatus, func(_ string, n int) bool { return n == 0 })
	have := map[string]int{}
	for _, r := range found {
		have[r.Status] = r.Items
	}
	if !maps.Equal(said.ByStatus, have) || said.OpenTotal != have["open"]+have["assigned"] || said.Decided != decisions[0].N {
		v.miscounted++
		v.Example("the summary says %+v, the rows are %v and %d decisions", said, have, decisions[0].N)
	}
	return nil
}
