package spandb

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// maxFoldedRows is how many rows are read to summarize traces here. ClickHouse
// takes longer to plan the statement that summarizes one trace than to read the
// rows of a hundred; from about 15,000 rows on its summary is quicker.
const maxFoldedRows = 10_000

// foldedQuery reads the columns that summaries are made of, of all versions of
// the traces' spans, in any order.
type foldedQuery struct {
	org   principal.OrgID
	of    Scope
	limit int
}

const foldedColumns = `trace_id, span_id, parent_span_id, toUnixTimestamp64Micro(start_time), duration_us, toInt8(state), toInt8(status), toInt8(kind),
  primitive_type, name, service_name, environment, release_id, agent_name, conversation_id, user_id,
  input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_nano_usd, cost_known, tags, input_preview, output_preview,
  attrs_json['` + span.KeyRemoteParent + `'], attrs_json['assay.metadata'], attrs_json['` + span.KeyMetadata + `'],
  toUnixTimestamp64Milli(ingested_at), version`

func (q foldedQuery) sql() (string, *arguments) {
	return "SELECT " + foldedColumns + "\nFROM spans\n" + q.of.SQL() + "\nLIMIT " + strconv.Itoa(q.limit), forOrg(q.org)
}

// fold makes the summaries of the query from rows; ok is false if there are too
// many of them.
func (s DB) fold(ctx context.Context, q SummaryQuery) (out []Summary, ok bool, err error) {
	rows, err := s.foldedRows(ctx, foldedQuery{org: q.Org, of: q.Of, limit: maxFoldedRows + 1})
	if err != nil || len(rows) > maxFoldedRows {
		return nil, false, err
	}
	of := make(map[span.TraceID][]StoredSpan, len(q.Of))
	for _, r := range rows {
		of[r.trace] = append(of[r.trace], r)
	}
	out = make([]Summary, 0, len(of))
	for _, b := range q.Of {
		if rows := newest(of[b.ID]); len(rows) > 0 {
			m := Summarize(rows)
			m.preview(rows)
			if q.Filter.matches(&m, q.idle) {
				out = append(out, m)
			}
		}
	}
	return out, true, nil
}

// newest leaves out all versions of a span but the newest.
func newest(rows []StoredSpan) []StoredSpan {
	last := make(map[span.ID]uint64, len(rows))
	for i := range rows {
		last[rows[i].ID] = max(last[rows[i].ID], rows[i].version)
	}
	seen := make(map[span.ID]bool, len(rows))
	return slices.DeleteFunc(rows, func(r StoredSpan) bool {
		if r.version < last[r.ID] || seen[r.ID] {
			return true
		}
		seen[r.ID] = true
		return false
	})
}

// foldedRows reads spans whose payloads are previews.
func (s DB) foldedRows(ctx context.Context, q foldedQuery) ([]StoredSpan, error) {
	var out []StoredSpan
	account := admission.From(ctx)
	err := s.read(ctx, q, func(rows scanner) error {
		var r StoredSpan
		var trace, id, parent, remote string
		var metadata [2]string
		err := rows.Scan(&trace, &id, &parent, &r.start, &r.duration, &r.state, &r.status, &r.kind,
			&r.primitive, &r.name, &r.service, &r.environment, &r.release, &r.agent, &r.conversation, &r.user,
			&r.inputTokens, &r.outputTokens, &r.cachedTokens, &r.reasoningTokens, &r.cost, &r.costKnown, &r.tags, &r.Input, &r.Output,
			&remote, &metadata[0], &metadata[1], &r.ingested, &r.version)
		if err != nil {
			return err
		}
		copy(r.trace[:], trace)
		copy(r.ID[:], id)
		copy(r.parent[:], parent)
		if remote != "" || metadata != [2]string{} {
			r.attrsJSON = map[string]string{span.KeyRemoteParent: remote, string(keyMetadata): metadata[0], span.KeyMetadata: metadata[1]}
		}
		out = append(out, r)
		return account.Wait(ctx, r.size()+r.payloadText.size())
	})
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	return out, nil
}

// preview takes over what the summary's input and output begin with.
func (m *Summary) preview(rows []StoredSpan) {
	for i := range rows {
		r := &rows[i]
		if m.Input != (SourcedText{}) && r.ID == m.Input.Span {
			m.Input.preview = r.Input
		}
		if m.Output != (SourcedText{}) && r.ID == m.Output.Span {
			m.Output.preview = r.Output
		}
	}
}
