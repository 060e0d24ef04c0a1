package score

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// answerTime is how long a question may take.
const answerTime = 20 * time.Second

// each scans every row of a question.
func (s store) each(ctx context.Context, org principal.OrgID, scan func(driver.Rows) error, text string, args ...any) error {
	if err := s.ch.Org(org).Each(ctx, answerTime, scan, text, args...); err != nil {
		return fmt.Errorf("read scores: %w", err)
	}
	return nil
}

// where is the condition of a filter within an organization. It names columns of the key only, so that
// a row which is replaced is never selected without the row that replaces it.
func (f Filter) where(org principal.OrgID) (text string, args []any) {
	var b strings.Builder
	b.WriteString("kind IN (?) AND subject IN (?)")
	args = []any{uuid.UUID(org), f.Kinds, f.IDs}
	if len(f.Parts) > 0 {
		b.WriteString(" AND part IN (?)")
		args = append(args, f.Parts)
	}
	if len(f.Metrics) > 0 {
		b.WriteString(" AND metric IN (?)")
		args = append(args, f.Metrics)
	}
	if f.Prefix != "" {
		b.WriteString(" AND startsWith(metric, ?)")
		args = append(args, f.Prefix)
	}
	return b.String(), args
}

func (s store) list(ctx context.Context, org principal.OrgID, f Filter, limit int) (all []Score, err error) {
	where, args := f.where(org)
	err = s.each(ctx, org, func(rows driver.Rows) error {
		one, err := scan(rows)
		all = append(all, one)
		return err
	}, "SELECT "+columns+" FROM scores FINAL WHERE org_id = ? AND "+where+says+" ORDER BY at DESC, record DESC LIMIT ?", append(args, limit)...)
	return all, err
}

// says leaves out scores that were withdrawn. It applies after rows are replaced.
const says = " AND (scored OR label != '' OR comment != '' OR detail != '')"

const columns = "kind, subject, part, metric, source, source_id, entry, record, scored, value, label, comment, detail, config_version, actor, at, retention_days"

// where is the condition of a page within an organization. Rows are replaced before
// it applies, so it may name any column.
func (p Page) where(org principal.OrgID) (text string, args []any) {
	var b strings.Builder
	b.WriteString("org_id = ? AND source = ? AND record < ?")
	args = []any{uuid.UUID(org), string(p.Source.Kind), p.Below}
	and := func(condition string, value any) {
		b.WriteString(" AND " + condition)
		args = append(args, value)
	}
	if p.Source.ID != "" {
		and("source_id = ?", p.Source.ID)
	}
	if p.Record != 0 {
		and("record = ?", p.Record)
	}
	if p.Metric != "" {
		and("metric = ?", p.Metric)
	}
	if p.Subject.Kind != "" {
		and("kind = ?", string(p.Subject.Kind))
	}
	if p.Subject.ID != "" {
		and("subject = ?", p.Subject.ID)
	}
	if p.Subject.Part != "" {
		and("part = ?", p.Subject.Part)
	}
	if p.Prefix != "" {
		and("startsWith(part, ?)", p.Prefix)
	}
	if p.ConfigVersion != 0 {
		and("config_version = ?", p.ConfigVersion)
	}
	if p.Min != nil {
		and("scored AND value >= ?", *p.Min)
	}
	if p.Max != nil {
		and("scored AND value <= ?", *p.Max)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Detail)) {
		b.WriteString(" AND JSONExtractRaw(detail, ?) = ?")
		args = append(args, name, p.Detail[name])
	}
	return b.String() + says, args
}

func (s store) page(ctx context.Context, org principal.OrgID, p Page) (all []Score, err error) {
	where, args := p.where(org)
	err = s.each(ctx, org, func(rows driver.Rows) error {
		one, err := scan(rows)
		all = append(all, one)
		return err
	}, "SELECT "+columns+" FROM scores FINAL WHERE "+where+" ORDER BY record DESC LIMIT ? OFFSET ?", append(args, p.Limit, p.Offset)...)
	return all, err
}

// every hands over all scores of a page, in any order.
func (s store) every(ctx context.Context, org principal.OrgID, p Page, take func(Score) error) error {
	where, args := p.where(org)
	return s.each(ctx, org, func(rows driver.Rows) error {
		one, err := scan(rows)
		if err != nil {
			return err
		}
		return take(one)
	}, "SELECT "+columns+" FROM scores FINAL WHERE "+where+" LIMIT ?", append(args, p.Limit)...)
}

func (s store) total(ctx context.Context, org principal.OrgID, p Page) (n int64, err error) {
	where, args := p.where(org)
	err = s.each(ctx, org, func(rows driver.Rows) error {
		var count uint64
		err := rows.Scan(&count)
		n = int64(count)
		return err
	}, "SELECT count() FROM scores FINAL WHERE "+where, args...)
	return n, err
}

func scan(rows driver.Rows) (s Score, err error) {
	var entry int64
	var scored bool
	var value float64
	var actor, kind, source, detail string
	err = rows.Scan(&kind, &s.Subject.ID, &s.Subject.Part, &s.Metric, &source, &s.Source.ID, &entry, &s.Record, &scored, &value,
		&s.Label, &s.Comment, &detail, &s.ConfigVersion, &actor, &s.At, &s.RetentionDays)
	s.Subject.Kind, s.Source.Kind = Kind(kind), SourceKind(source)
	s.Separate = entry != 0 && (s.Source.Kind != SourceJudge || entry != s.ConfigVersion)
	if detail != "" {
		s.Detail = jsontext.Value(detail)
	}
	if scored {
		s.Value = &value
	}
	s.By = principal.ParseActor(actor)
	return s, err
}

func (s store) count(ctx context.Context, org principal.OrgID, f Filter) (map[string]int64, error) {
	where, args := f.where(org)
	all := map[string]int64{}
	err := s.each(ctx, org, func(rows driver.Rows) error {
		var id string
		var n uint64
		err := rows.Scan(&id, &n)
		all[id] = int64(n)
		return err
	}, "SELECT subject, count() FROM scores FINAL WHERE org_id = ? AND "+where+says+" GROUP BY subject", args...)
	return all, err
}

// has reports whether a score, or one that replaces it, is stored.
func (s store) has(ctx context.Context, org principal.OrgID, one Score) (found bool, err error) {
	err = s.each(ctx, org, func(rows driver.Rows) error { return rows.Scan(&found) },
		"SELECT count() > 0 FROM scores WHERE org_id = ? AND kind = ? AND subject = ? AND part = ? AND metric = ? AND source = ? AND source_id = ? AND entry = ?"+
			" AND at >= fromUnixTimestamp64Micro(?, 'UTC')",
		uuid.UUID(org), one.Subject.Kind, one.Subject.ID, one.Subject.Part, one.Metric, one.Source.Kind, one.Source.ID, one.entry(), one.At.UnixMicro())
	return found, err
}

// doomed are the rows of a filter's subjects from before a time, or all of them.
// Deletions are of a millisecond.
func (f Filter) doomed(org principal.OrgID, before time.Time) clickhouse.Doomed {
	where, args := f.where(org)
	return clickhouse.Doomed{Table: "scores", Where: "org_id = ? AND " + where, Args: args, Arrived: "toDateTime64(at, 3, 'UTC')", Before: before}
}

func (s store) hide(ctx context.Context, org principal.OrgID, f Filter, before time.Time) error {
	return s.ch.Eraser().Hide(ctx, f.doomed(org, before))
}

func (s store) left(ctx context.Context, org principal.OrgID, f Filter, before time.Time) (uint64, error) {
	return s.ch.Eraser().Left(ctx, f.doomed(org, before))
}
