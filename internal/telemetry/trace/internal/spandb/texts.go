package spandb

import (
	"context"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// textsQuery reads single payloads: what traces as a whole were given and gave.
type textsQuery struct {
	org   principal.OrgID
	texts []textKey
}

// textKey is a payload by its key.
type textKey struct {
	trace span.TraceID
	SourcedText
}

func (q textsQuery) sql() (string, *arguments) {
	keys := make([]string, len(q.texts))
	for i, t := range q.texts {
		keys[i] = "(" + literal(t.trace[:]) + ", fromUnixTimestamp64Micro(" + strconv.FormatInt(t.start, 10) + ", 'UTC'), " + literal(t.Span[:]) + ")"
	}
	return "SELECT " + payloadColumnsSQL + "\nFROM span_payloads\nWHERE org_id = @org AND (trace_id, start_time, span_id) IN (" + strings.Join(keys, ", ") + ")", forOrg(q.org)
}

// FillTexts replaces the previews of traces by what they are the beginning of.
func (s DB) FillTexts(ctx context.Context, org principal.OrgID, of []Summary, traces []Trace) error {
	var q textsQuery
	for i := range of {
		for _, t := range []SourcedText{of[i].Input, of[i].Output} {
			if t != (SourcedText{}) {
				q.texts = append(q.texts, textKey{trace: of[i].ID, SourcedText: t})
			}
		}
	}
	if len(q.texts) == 0 {
		return nil
	}
	q.org = org
	found := map[payloadKey]payloadText{}
	err := s.payloads(ctx, q, func(p *storedPayload) error {
		found[p.key] = p.payloadText
		return nil
	})
	for i := range traces {
		t, m := &traces[i], &of[i]
		if p, ok := found[payloadKey{trace: m.ID, span: m.Input.Span, version: m.Input.version}]; ok {
			t.Input = m.Input.InputOf(p.Input)
		}
		if p, ok := found[payloadKey{trace: m.ID, span: m.Output.Span, version: m.Output.version}]; ok {
			t.Output = m.Output.OutputOf(p.Output)
		}
	}
	return err
}

// spanQuery reads one span, the newest version first.
type spanQuery struct {
	org  principal.OrgID
	of   Scope
	span span.ID
}

func (q spanQuery) sql() (string, *arguments) {
	return "SELECT " + spanColumnsSQL + "\nFROM spans\n" + q.of.SQL() + " AND span_id = " + literal(q.span[:]) + "\nORDER BY version DESC\nLIMIT 1", forOrg(q.org)
}

// FindSpan reads a span of a trace with its payload; ok is false if the trace
// does not have it.
func (s DB) FindSpan(ctx context.Context, org principal.OrgID, of Bounds, id span.ID) (found StoredSpan, ok bool, err error) {
	rows, err := s.spans(ctx, spanQuery{org: org, of: Scope{of}, span: id})
	if err != nil || len(rows) == 0 {
		return StoredSpan{}, false, err
	}
	found = rows[0]
	key := textKey{trace: of.ID, SourcedText: SourcedText{Span: id, start: found.start}}
	err = s.payloads(ctx, textsQuery{org: org, texts: []textKey{key}}, func(p *storedPayload) error {
		if p.key.version == found.version {
			found.payloadText = p.payloadText
		}
		return nil
	})
	return found, true, err
}
