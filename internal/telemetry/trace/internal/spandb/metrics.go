package spandb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
)

// groupColumns are the columns that spans are grouped by.
var groupColumns = map[GroupBy]string{
	GroupNone: "''", GroupModel: "toString(model)", GroupAgent: "toString(agent_name)", GroupRelease: "toString(release_id)",
	GroupEnvironment: "toString(environment)", GroupService: "toString(service_name)", GroupProvider: "toString(provider)",
}

// where are the conditions on spans, without those of the time.
func (q MetricsQuery) where(n *arguments) string {
	n.set("from", q.From.UnixMicro()+1)
	n.set("to", q.To.UnixMicro()-1)
	conditions := []string{"org_id = @org AND " + within, "span_id != " + noSpan}
	for _, c := range []struct{ column, name, value string }{
		{"environment", "environment", q.Environment},
		{"agent_name", "agent", q.AgentName},
		{"release_id", "release", q.ReleaseID},
		{"model", "model", q.Model},
	} {
		if c.value != "" {
			n.set(c.name, c.value)
			conditions = append(conditions, c.column+" = @"+c.name)
		}
	}
	return strings.Join(conditions, " AND ")
}

// groupsQuery finds the largest groups, one more than are shown. It counts
// rows, not spans: that is quick, and near enough for the choice.
type groupsQuery struct {
	MetricsQuery
	org principal.OrgID
}

func (q groupsQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	return "SELECT " + groupColumns[q.GroupBy] + " AS key\nFROM spans\nWHERE " + q.where(n) +
		"\nGROUP BY key\nORDER BY count() DESC, key\nLIMIT " + strconv.Itoa(maxGroups+1), n
}

// metricsQuery makes the figures of every group, and of each of its intervals.
// Rows of a span that are not merged yet count once. A span that was sent again
// after the organization's retention had changed counts twice, until the first
// one is gone.
type metricsQuery struct {
	MetricsQuery
	org principal.OrgID
	// shown are the groups that are kept apart; nil keeps all apart.
	shown []string
}

func (q metricsQuery) sql() (string, *arguments) {
	n := forOrg(q.org)
	apart := "1"
	if q.shown != nil {
		n.set("shown", q.shown)
		apart = "has(@shown, " + groupColumns[q.GroupBy] + ")"
	}
	key := groupColumns[q.GroupBy]
	if q.shown != nil {
		key = "if(apart, " + key + ", '')"
	}
	return `SELECT
  toBool(` + apart + `) AS apart, ` + key + ` AS key, toUnixTimestamp(toStartOfInterval(start_time, INTERVAL ` + strconv.Itoa(int(q.Interval.Minutes())) + ` MINUTE)) AS at,
  toBool(grouping(at) = 0) AS point,
  count() AS spans, countIf(status = 'error') AS errors, uniqCombined64(trace_id) AS traces,
  sumIf(input_tokens, ` + spends + `) AS input_tokens, sumIf(output_tokens, ` + spends + `) AS output_tokens,
  sumIf(cost_nano_usd, cost_known AND ` + spends + `) AS cost, countIf(cost_known AND ` + spends + `) AS costs,
  countIf(state = 'ended') AS ended, quantilesDDIf(0.005, 0.5, 0.9, 0.95, 0.99)(duration_us, state = 'ended') AS latency,
  countIf(first_token_us > 0) AS streamed, quantilesDDIf(0.005, 0.5, 0.9, 0.95, 0.99)(first_token_us, first_token_us > 0) AS first_token
FROM spans FINAL
WHERE ` + q.where(n) + `
GROUP BY GROUPING SETS ((apart, key), (apart, key, at))
HAVING spans > 0
ORDER BY point, at
LIMIT ` + strconv.Itoa(maxPoints+maxGroups+2), n
}

// errPoints is returned when the series of all groups have too many points.
var errPoints = fault.Invalid("query", "interval", "max", "makes too many points for this time and these groups: give a longer interval, or auto")

// Metrics returns the figures of the largest groups, and those of the others
// together; other is nil if there are none.
func (s DB) Metrics(ctx context.Context, org principal.OrgID, q MetricsQuery) (groups []MetricGroup, other *MetricGroup, err error) {
	m := metricsQuery{MetricsQuery: q, org: org}
	var largest []string
	err = s.read(ctx, groupsQuery{MetricsQuery: q, org: org}, func(rows scanner) error {
		var key string
		err := rows.Scan(&key)
		largest = append(largest, key)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("find groups of spans: %w", err)
	}
	if len(largest) > maxGroups {
		m.shown = largest[:maxGroups]
	}
	byKey := map[string]*MetricGroup{}
	n := 0
	err = s.read(ctx, m, func(rows scanner) error {
		if n++; n > maxPoints+maxGroups+1 {
			return errPoints
		}
		apart, key, point, r, err := scanFigures(rows)
		if err != nil {
			return err
		}
		switch to := byKey[key]; {
		case point && apart:
			to.Series = append(to.Series, MetricPoint{At: r.at, Figures: r.Figures})
		case point:
			other.Series = append(other.Series, MetricPoint{At: r.at, Figures: r.Figures})
		case apart:
			byKey[key] = &r.MetricGroup
		default:
			other = &r.MetricGroup
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read figures of spans: %w", err)
	}
	for _, g := range byKey {
		groups = append(groups, *g)
	}
	return groups, other, nil
}

// figuresRow is a row of metricsQuery.
type figuresRow struct {
	MetricGroup
	at time.Time
}

func scanFigures(rows scanner) (apart bool, key string, point bool, r figuresRow, err error) {
	var at uint32
	var latency, first []float64
	err = rows.Scan(&apart, &key, &at, &point, &r.Spans, &r.Errors, &r.Traces, &r.InputTokens, &r.OutputTokens, &r.Cost.NanoUSD, &r.CostKnown,
		&r.Latency.N, &latency, &r.FirstToken.N, &first)
	if err != nil {
		return false, "", false, figuresRow{}, err
	}
	r.Key, r.at = key, time.Unix(int64(at), 0).UTC()
	r.Cost.Known = r.CostKnown > 0
	r.Latency.fill(latency)
	r.FirstToken.fill(first)
	return apart, key, point, r, nil
}

// fill takes the four percentiles, in microseconds.
func (p *Percentiles) fill(list []float64) {
	if p.N == 0 || len(list) != 4 {
		return
	}
	ms := slices.Clone(list)
	for i := range ms {
		ms[i] /= 1000
	}
	p.P50, p.P90, p.P95, p.P99 = ms[0], ms[1], ms[2], ms[3]
}
