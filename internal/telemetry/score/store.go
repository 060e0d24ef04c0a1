package score

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// Stores are what scores are kept in.
type Stores struct {
	ClickHouse *clickhouse.DB
	Inserter   *clickhouse.Inserter
}

// store keeps scores in ClickHouse. Requests that come together share a write.
type store struct {
	ch    *clickhouse.DB
	group *clickhouse.Group[*block]
}

func newStore(s Stores) store {
	return store{ch: s.ClickHouse, group: clickhouse.NewGroup(clickhouse.GroupConfig{
		Lanes: 1, Interval: 25 * time.Millisecond,
		EnoughRows: 10_000, EnoughBytes: 8 << 20, MaxBytes: 32 << 20, WriteTimeout: 10 * time.Second,
	}, newBlock, func(ctx context.Context, b *block, token string) (bool, error) {
		return false, s.Inserter.Insert(ctx, "scores", token, b.input)
	})}
}

// block is rows of scores, in columns.
type block struct {
	org                         proto.ColUUID
	kind, metric, source, label *proto.ColLowCardinality[string]
	subject, part, sourceID     proto.ColStr
	entry, record, config       proto.ColInt64
	scored                      proto.ColBool
	value                       proto.ColFloat64
	comment, detail, actor      proto.ColStr
	at                          *proto.ColDateTime64
	retention                   proto.ColUInt16
	input                       proto.Input
	size                        int
}

func newBlock() *block {
	label := func() *proto.ColLowCardinality[string] { return new(proto.ColStr).LowCardinality() }
	b := &block{kind: label(), metric: label(), source: label(), label: label(), at: new(proto.ColDateTime64).WithPrecision(proto.PrecisionMicro)}
	b.input = proto.Input{
		{Name: "org_id", Data: &b.org},
		{Name: "kind", Data: b.kind},
		{Name: "subject", Data: &b.subject},
		{Name: "part", Data: &b.part},
		{Name: "metric", Data: b.metric},
		{Name: "source", Data: b.source},
		{Name: "source_id", Data: &b.sourceID},
		{Name: "entry", Data: &b.entry},
		{Name: "record", Data: &b.record},
		{Name: "scored", Data: &b.scored},
		{Name: "value", Data: &b.value},
		{Name: "label", Data: b.label},
		{Name: "comment", Data: &b.comment},
		{Name: "detail", Data: &b.detail},
		{Name: "config_version", Data: &b.config},
		{Name: "actor", Data: &b.actor},
		{Name: "at", Data: b.at},
		{Name: "retention_days", Data: &b.retention},
	}
	return b
}

// Rows implements clickhouse.Block.
func (b *block) Rows() int { return b.org.Rows() }

// Bytes implements clickhouse.Block.
func (b *block) Bytes() int { return b.size }

// Reset implements clickhouse.Block.
func (b *block) Reset() {
	b.input.Reset()
	b.size = 0
}

// rowBytes is about what a row takes without its texts.
const rowBytes = 100

func (b *block) add(org principal.OrgID, s *Score) {
	b.org.Append(uuid.UUID(org))
	b.kind.Append(string(s.Subject.Kind))
	b.subject.Append(s.Subject.ID)
	b.part.Append(s.Subject.Part)
	b.metric.Append(s.Metric)
	b.source.Append(string(s.Source.Kind))
	b.sourceID.Append(s.Source.ID)
	b.entry.Append(s.entry())
	b.record.Append(s.Record)
	b.scored.Append(s.Value != nil)
	var value float64
	if s.Value != nil {
		value = *s.Value
	}
	b.value.Append(value)
	b.label.Append(s.Label)
	b.comment.Append(s.Comment)
	b.detail.Append(string(s.Detail))
	b.config.Append(s.ConfigVersion)
	b.actor.Append(s.By.String())
	b.at.Append(s.At)
	b.retention.Append(s.RetentionDays)
	b.size += rowBytes + len(s.Subject.ID) + len(s.Subject.Part) + len(s.Source.ID) + len(s.Comment) + len(s.Detail)
}

// entry sets apart what does not replace each other: separate scores, and what
// different versions of a judge say. All others have the same.
func (s *Score) entry() int64 {
	switch {
	case s.Separate:
		return s.Record
	case s.Source.Kind == SourceJudge:
		return s.ConfigVersion
	}
	return 0
}

func (s store) insert(ctx context.Context, org principal.OrgID, scores []Score) error {
	_, err := s.group.Add(ctx, func(b *block) error {
		for i := range scores {
			b.add(org, &scores[i])
		}
		return nil
	})
	if err == nil {
		return nil
	}
	err = fmt.Errorf("insert scores: %w", err)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", clickhouse.ErrUnavailable, err)
	}
	return clickhouse.Translate(err)
}
