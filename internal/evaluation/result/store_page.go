package result

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/go-json-experiment/json/jsontext"
)

const outcomeColumns = "item_id, epoch, content, cluster, weight, status, output, tool_calls, otel_trace_id, duration_us, duration_known, " +
	"cost_nano_usd, cost_known, input_tokens, output_tokens, calls, scoring_nano_usd, error_code, error_message, attempts, scored, value"

// page reads outcomes until they have PageBytes, and whether there are others
// after them. Their sizes are read first, so that the bytes are not.
func (s store) page(ctx context.Context, r Run, f Filter) (all []Outcome, more bool, err error) {
	where, args := f.where(r)
	sizes, err := s.sizes(ctx, r, f, where, args)
	if err != nil || len(sizes) == 0 {
		return nil, false, err
	}
	n := fitting(sizes[:min(len(sizes), f.Limit)])
	err = s.each(ctx, r.Org, func(rows driver.Rows) error {
		o, err := scanOutcome(rows)
		all = append(all, o)
		return err
	}, fmt.Sprintf("SELECT %s%s%s ORDER BY item_id, epoch LIMIT %d OFFSET %d", outcomeColumns, of, where, n, f.Offset), args...)
	if err != nil || len(all) == 0 {
		return all, false, err
	}
	return all, n < len(sizes), s.addScores(ctx, r, all)
}

// sizes reads how many bytes the outcomes of a page have, and one after it.
func (s store) sizes(ctx context.Context, r Run, f Filter, where string, args []any) (all []uint64, err error) {
	err = s.each(ctx, r.Org, func(rows driver.Rows) error {
		var size uint64
		err := rows.Scan(&size)
		all = append(all, size)
		return err
	}, fmt.Sprintf("SELECT length(output) + length(tool_calls) + length(attempts) + length(error_message) + 1024%s%s ORDER BY item_id, epoch LIMIT %d OFFSET %d",
		of, where, f.Limit+1, f.Offset), args...)
	return all, err
}

// fitting is how many outcomes of these sizes a page has: it ends with the one
// that fills it.
func fitting(sizes []uint64) int {
	var sum uint64
	for i, size := range sizes {
		if sum += size; sum >= PageBytes {
			return i + 1
		}
	}
	return len(sizes)
}

func (s store) count(ctx context.Context, r Run, f Filter) (int, error) {
	where, args := f.where(r)
	var n uint64
	err := s.each(ctx, r.Org, func(rows driver.Rows) error { return rows.Scan(&n) }, "SELECT count()"+of+where, args...)
	return int(n), err
}

// where is the condition of a filter, with the values of the whole question.
func (f Filter) where(r Run) (text string, args []any) {
	var b strings.Builder
	b.WriteString(" AND metric = ''")
	args = r.args()
	add := func(condition string, values ...any) {
		b.WriteString(" AND " + condition)
		args = append(args, values...)
	}
	if len(f.Statuses) > 0 {
		add("status IN (?)", f.Statuses)
	}
	if len(f.Items) > 0 {
		add("item_id IN (?)", f.Items)
	}
	if f.After != (Key{}) {
		add("item_id >= ? AND (item_id, epoch) > (?, ?)", f.After.Item, f.After.Item, uint16(f.After.Epoch))
	}
	if f.Metric != "" {
		add("(item_id, epoch) IN (SELECT item_id, epoch"+of+" AND metric = ? AND scored", append(r.args(), f.Metric)...)
		if f.MinScore != nil {
			add("value >= ?", *f.MinScore)
		}
		if f.MaxScore != nil {
			add("value <= ?", *f.MaxScore)
		}
		b.WriteString(")")
	}
	return b.String(), args
}

func scanOutcome(rows driver.Rows) (o Outcome, err error) {
	var epoch, calls uint16
	var content, status, output, tools, trace, attempts string
	var duration, cost uint64
	var durationKnown, costKnown, scored bool
	var value float64
	err = rows.Scan(&o.Item, &epoch, &content, &o.Cluster, &o.Weight, &status, &output, &tools, &trace, &duration, &durationKnown,
		&cost, &costKnown, &o.InputTokens, &o.OutputTokens, &calls, &o.ScoringNanoUSD, &o.ErrorCode, &o.ErrorMessage, &attempts, &scored, &value)
	if err != nil {
		return o, fmt.Errorf("read result: %w", err)
	}
	o.Epoch, o.Calls, o.Status = int(epoch), int(calls), Status(status)
	o.Output, o.ToolCalls, o.Attempts = toJSON(output), toJSON(tools), toJSON(attempts)
	copy(o.Content[:], content)
	copy(o.Trace[:], trace)
	if durationKnown {
		d := time.Duration(duration) * time.Microsecond
		o.Duration = &d
	}
	if costKnown {
		o.CostNanoUSD = &cost
	}
	if scored {
		o.Overall = &value
	}
	return o, nil
}

// toJSON is nil for what was never there.
func toJSON(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	return jsontext.Value(text)
}

// addScores reads the scores of a page of outcomes.
func (s store) addScores(ctx context.Context, r Run, page []Outcome) error {
	at := make(map[Key]*Outcome, len(page))
	items := make([]int64, 0, len(page))
	for i := range page {
		at[page[i].Key] = &page[i]
		items = append(items, page[i].Item)
	}
	return s.each(ctx, r.Org, func(rows driver.Rows) error {
		var k Key
		var epoch uint16
		var sc Score
		var scored bool
		var value float64
		if err := rows.Scan(&k.Item, &epoch, &sc.Metric, &scored, &value, &sc.Reason, &sc.Explanation); err != nil {
			return fmt.Errorf("read score: %w", err)
		}
		k.Epoch = int(epoch)
		if scored {
			sc.Value = &value
		}
		if o := at[k]; o != nil {
			o.Scores = append(o.Scores, sc)
		}
		return nil
	}, "SELECT item_id, epoch, metric, scored, value, reason, explanation"+of+" AND metric != '' AND item_id IN (?) ORDER BY metric, item_id, epoch", append(r.args(), items)...)
}
