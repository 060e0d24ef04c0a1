package result

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// Stores are what results are kept in.
type Stores struct {
	ClickHouse *clickhouse.DB
	Inserter   *clickhouse.Inserter
}

// store keeps results in ClickHouse.
type store struct {
	Stores
	now func() time.Time
}

// columns are those of run_results, in the form in which they are sent.
type columns struct {
	org                               proto.ColUUID
	run, item                         proto.ColInt64
	metric                            *proto.ColLowCardinality[string]
	epoch                             proto.ColUInt16
	started                           proto.ColDateTime
	content, trace                    proto.ColFixedStr16
	cluster, output, tools            proto.ColStr
	weight, value                     proto.ColFloat64
	status, errorCode, reason         *proto.ColLowCardinality[string]
	duration, cost, scoring           proto.ColUInt64
	durationKnown, costKnown, scored  proto.ColBool
	inputTokens, outputTokens         proto.ColUInt32
	calls                             proto.ColUInt16
	errorMessage, attempts, explained proto.ColStr
	version                           proto.ColUInt64
}

func newColumns() *columns {
	label := func() *proto.ColLowCardinality[string] { return new(proto.ColStr).LowCardinality() }
	return &columns{metric: label(), status: label(), errorCode: label(), reason: label()}
}

func (c *columns) input() proto.Input {
	return proto.Input{
		{Name: "org_id", Data: &c.org},
		{Name: "run_id", Data: &c.run},
		{Name: "metric", Data: c.metric},
		{Name: "item_id", Data: &c.item},
		{Name: "epoch", Data: &c.epoch},
		{Name: "run_started", Data: &c.started},
		{Name: "content", Data: &c.content},
		{Name: "cluster", Data: &c.cluster},
		{Name: "weight", Data: &c.weight},
		{Name: "status", Data: c.status},
		{Name: "output", Data: &c.output},
		{Name: "tool_calls", Data: &c.tools},
		{Name: "otel_trace_id", Data: &c.trace},
		{Name: "duration_us", Data: &c.duration},
		{Name: "duration_known", Data: &c.durationKnown},
		{Name: "cost_nano_usd", Data: &c.cost},
		{Name: "cost_known", Data: &c.costKnown},
		{Name: "input_tokens", Data: &c.inputTokens},
		{Name: "output_tokens", Data: &c.outputTokens},
		{Name: "calls", Data: &c.calls},
		{Name: "scoring_nano_usd", Data: &c.scoring},
		{Name: "error_code", Data: c.errorCode},
		{Name: "error_message", Data: &c.errorMessage},
		{Name: "attempts", Data: &c.attempts},
		{Name: "scored", Data: &c.scored},
		{Name: "value", Data: &c.value},
		{Name: "reason", Data: c.reason},
		{Name: "explanation", Data: &c.explained},
		{Name: "version", Data: &c.version},
	}
}

// key appends what all rows of an outcome have.
func (c *columns) key(r Run, o *Outcome, metric string, version uint64) {
	c.org.Append(uuid.UUID(r.Org))
	c.run.Append(r.ID)
	c.metric.Append(metric)
	c.item.Append(o.Item)
	c.epoch.Append(uint16(o.Epoch))
	c.started.Append(r.Started)
	c.content.Append(o.Content)
	c.cluster.Append(o.Cluster)
	c.weight.Append(o.Weight)
	c.version.Append(version)
}

// judged appends a value, or none with its reason.
func (c *columns) judged(value *float64, reason, explanation string) {
	c.scored.Append(value != nil)
	if value == nil {
		value = new(float64)
	}
	c.value.Append(*value)
	c.reason.Append(reason)
	c.explained.Append(explanation)
}

// outcome appends the row of an outcome.
func (c *columns) outcome(r Run, o *Outcome, version uint64) {
	c.key(r, o, "", version)
	c.judged(o.Overall, "", "")
	c.status.Append(string(o.Status))
	c.output.Append(string(o.Output))
	c.tools.Append(string(o.ToolCalls))
	c.trace.Append(o.Trace)
	var duration time.Duration
	if o.Duration != nil {
		duration = *o.Duration
	}
	c.duration.Append(uint64(max(0, duration.Microseconds())))
	c.durationKnown.Append(o.Duration != nil)
	var cost uint64
	if o.CostNanoUSD != nil {
		cost = *o.CostNanoUSD
	}
	c.cost.Append(cost)
	c.costKnown.Append(o.CostNanoUSD != nil)
	c.inputTokens.Append(o.InputTokens)
	c.outputTokens.Append(o.OutputTokens)
	c.calls.Append(uint16(min(o.Calls, 1<<16-1)))
	c.scoring.Append(o.ScoringNanoUSD)
	c.errorCode.Append(o.ErrorCode)
	c.errorMessage.Append(o.ErrorMessage)
	c.attempts.Append(string(o.Attempts))
}

// score appends the row of a score.
func (c *columns) score(r Run, o *Outcome, s *Score, version uint64) {
	c.key(r, o, s.Metric, version)
	c.judged(s.Value, s.Reason, s.Explanation)
	c.status.Append(string(o.Status))
	for _, text := range []*proto.ColStr{&c.output, &c.tools, &c.errorMessage, &c.attempts} {
		text.Append("")
	}
	c.trace.Append(o.Trace)
	c.duration.Append(0)
	c.durationKnown.Append(false)
	c.cost.Append(0)
	c.costKnown.Append(false)
	c.inputTokens.Append(0)
	c.outputTokens.Append(0)
	c.calls.Append(0)
	c.scoring.Append(0)
	c.errorCode.Append("")
}

func (s store) insert(ctx context.Context, r Run, outcomes []Outcome) error {
	if len(outcomes) == 0 {
		return nil
	}
	c := newColumns()
	version := uint64(s.now().UnixMicro())
	for i := range outcomes {
		o := &outcomes[i]
		c.outcome(r, o, version)
		for j := range o.Scores {
			c.score(r, o, &o.Scores[j], version)
		}
	}
	if err := s.Inserter.Insert(ctx, "run_results", clickhouse.Token(), c.input()); err != nil {
		err = fmt.Errorf("insert results: %w", err)
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%w: %w", clickhouse.ErrUnavailable, err)
		}
		return clickhouse.Translate(err)
	}
	return nil
}

// of is the part of every question that says which run is meant: its partition
// and its place in the order of the table.
const of = " FROM run_results FINAL WHERE org_id = ? AND run_id = ? AND run_started = fromUnixTimestamp(?)"

func (r Run) args() []any { return []any{uuid.UUID(r.Org), r.ID, r.Started.Unix()} }

// answerTime is how long a question may take. The driver turns it into a limit
// of the server, which allows a reader little more.
const answerTime = 50 * time.Second

// within says that a run lies in one partition and, on a cluster, on one shard, so that
// neither FINAL nor a question within a question looks beyond it.
var within = clickhouse.Settings{"do_not_merge_across_partitions_select_final": 1, "distributed_product_mode": "local"}

// each scans every row of a question.
func (s store) each(ctx context.Context, org principal.OrgID, scan func(driver.Rows) error, text string, args ...any) error {
	return s.ClickHouse.Org(org).With(within).Each(ctx, answerTime, scan, text, args...)
}

const briefColumns = "item_id, epoch, content, cluster, weight, status, scored, value, cost_nano_usd + scoring_nano_usd, scoring_nano_usd, input_tokens, output_tokens, calls, error_code"

func scanBrief(rows driver.Rows) (b Brief, err error) {
	var epoch, calls uint16
	var scored bool
	var value float64
	var content, status, code string
	err = rows.Scan(&b.Item, &epoch, &content, &b.Cluster, &b.Weight, &status, &scored, &value, &b.CostNanoUSD, &b.ScoringNanoUSD, &b.InputTokens, &b.OutputTokens, &calls, &code)
	if err != nil {
		return b, fmt.Errorf("read result: %w", err)
	}
	b.Epoch, b.Calls, b.Status, b.Unfit, b.Answered = int(epoch), int(calls), Status(status), code == CodeUnfit, answered(Status(status), code)
	copy(b.Content[:], content)
	if scored {
		b.Overall = &value
	}
	return b, nil
}

func (s store) done(ctx context.Context, r Run, items []int64) (all []Brief, err error) {
	err = s.each(ctx, r.Org, func(rows driver.Rows) error {
		b, err := scanBrief(rows)
		all = append(all, b)
		return err
	}, "SELECT "+briefColumns+of+" AND metric = '' AND item_id IN (?)", append(r.args(), items)...)
	return all, err
}

func (s store) missing(ctx context.Context, r Run, items []int64, metrics []string, reason string) (all []Key, err error) {
	err = s.each(ctx, r.Org, func(rows driver.Rows) error {
		var k Key
		var epoch uint16
		if err := rows.Scan(&k.Item, &epoch); err != nil {
			return fmt.Errorf("read missing score: %w", err)
		}
		k.Epoch = int(epoch)
		all = append(all, k)
		return nil
	}, "SELECT DISTINCT item_id, epoch"+of+" AND metric IN (?) AND NOT scored AND reason = ? AND item_id IN (?)", append(r.args(), metrics, reason, items)...)
	return all, err
}

// everyVersion selects and orders some rows of one metric of a run, from an item
// on, with those that were replaced: a reader who keeps the last of each key is
// done in a third of the time that FINAL takes.
const everyVersion = " FROM run_results WHERE org_id = ? AND run_id = ? AND run_started = fromUnixTimestamp(?) AND metric = ? AND item_id >= ? ORDER BY item_id, epoch, version LIMIT ?"

// rangeRows is how many rows are read at once: well below what the server gives a
// reader, and many more than one item has.
const rangeRows = 400_000

// scanner reads a row with its key.
type scanner[T any] func(driver.Rows) (T, Key, error)

// readRun reads every outcome or every score of a run, in the order of items and
// epochs, some items at a time.
func readRun[T any](ctx context.Context, s store, r Run, metric, columns string, rows int, scan scanner[T]) ([]T, error) {
	var all []T
	var last Key
	from := int64(math.MinInt64)
	for {
		n, begin := 0, len(all) // where the last item begins, which may not be whole
		err := s.each(ctx, r.Org, func(row driver.Rows) error {
			one, key, err := scan(row)
			if err != nil {
				return err
			}
			switch {
			case n == 0 || key.Item != last.Item:
				begin = len(all)
			case key == last:
				all = all[:len(all)-1]
			}
			all, last = append(all, one), key
			n++
			return nil
		}, "SELECT "+columns+everyVersion, append(r.args(), metric, from, rows)...)
		if err != nil || n < rows {
			return all, err
		}
		if last.Item == from {
			return nil, fmt.Errorf("run %d has more than %d rows of item %d", r.ID, rows, from)
		}
		all, from = all[:begin], last.Item
	}
}

func (s store) briefs(ctx context.Context, r Run) ([]Brief, error) {
	return readRun(ctx, s, r, "", briefColumns, rangeRows, func(row driver.Rows) (Brief, Key, error) {
		b, err := scanBrief(row)
		return b, b.Key, err
	})
}

func (s store) measures(ctx context.Context, r Run, metric string) ([]Measure, error) {
	return readRun(ctx, s, r, metric, "item_id, epoch, scored, value, reason", rangeRows, func(row driver.Rows) (m Measure, _ Key, err error) {
		var epoch uint16
		if err := row.Scan(&m.Item, &epoch, &m.Scored, &m.Value, &m.Reason); err != nil {
			return m, m.Key, fmt.Errorf("read score: %w", err)
		}
		m.Epoch = int(epoch)
		return m, m.Key, nil
	})
}

func (s store) traced(ctx context.Context, r Run) ([]Traced, error) {
	return readRun(ctx, s, r, "", "item_id, epoch, otel_trace_id, status, error_code", rangeRows, func(row driver.Rows) (t Traced, _ Key, err error) {
		var epoch uint16
		var trace, status, code string
		if err := row.Scan(&t.Item, &epoch, &trace, &status, &code); err != nil {
			return t, t.Key, fmt.Errorf("read trace of result: %w", err)
		}
		t.Epoch, t.Answered = int(epoch), answered(Status(status), code)
		copy(t.Trace[:], trace)
		return t, t.Key, nil
	})
}

func (s store) tallies(ctx context.Context, r Run) (all []Tally, err error) {
	err = s.each(ctx, r.Org, func(rows driver.Rows) error {
		var t Tally
		var n uint64
		var status string
		if err := rows.Scan(&status, &n, &t.CostNanoUSD, &t.InputTokens, &t.OutputTokens, &t.Calls); err != nil {
			return fmt.Errorf("read tally: %w", err)
		}
		t.Status, t.Outcomes = Status(status), int(n)
		all = append(all, t)
		return nil
	}, "SELECT status, count(), toInt64(sum(cost_nano_usd + scoring_nano_usd)), toInt64(sum(input_tokens)), toInt64(sum(output_tokens)), toInt64(sum(calls))"+
		of+" AND metric = '' GROUP BY status ORDER BY status", r.args()...)
	return all, err
}
