package spandb

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/sealed"
)

// randomRow makes a row with something in most of its fields.
func randomRow(r *rand.Rand) *span.Record {
	text := func(n int) []byte {
		b := make([]byte, r.IntN(n+1))
		for i := range b {
			b[i] = byte(' ' + r.IntN(95))
		}
		return b
	}
	out := &span.Record{Fields: span.Fields{
		Start: time.Now().UnixMicro() - r.Int64N(1e9), Status: int8(r.IntN(3)), Kind: int8(r.IntN(5)), Primitive: []string{"", "model_call", "tool_call"}[r.IntN(3)],
		Name: text(20), StatusMessage: text(10), Agent: text(3), Model: text(3), Provider: text(3), Tool: text(3),
		Conversation: text(8), User: text(8), InputTokens: r.Uint32(), OutputTokens: r.Uint32(), CachedTokens: r.Uint32(), ReasoningTokens: r.Uint32(), FirstToken: r.Uint32(),
	}}
	out.Service, out.Environment, out.Release, out.Resource = text(3), text(2), text(2), []byte(`{"service.name":"x"}`)
	for i := range out.TraceID {
		out.TraceID[i] = byte(r.Uint32())
	}
	for i := range out.ID {
		out.ID[i] = byte(r.Uint32())
	}
	if r.IntN(2) == 0 {
		out.End = out.Start + r.Int64N(1e6)
	}
	for range r.IntN(4) {
		out.Tags = append(out.Tags, text(4))
	}
	for i := range r.IntN(6) {
		out.Attributes = append(out.Attributes, span.Attribute{Key: fmt.Appendf(nil, "key %d", i*r.IntN(3)), Value: text(30), JSON: r.IntN(2) == 0})
	}
	if r.IntN(2) == 0 {
		out.Input, out.Output = text(300), text(300)
	}
	return out
}

func TestWhatABlockHoldsCanBeReadBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cfg := clickhousetest.New(t)
	ch, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	insert, err := clickhouse.NewInserter(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = insert.Close() })
	w := &writer{insert: insert, timeout: 10 * time.Second, now: time.Now}

	r := rand.New(rand.NewPCG(7, 7))
	b, s := NewBlock(), Stamp{Org: principal.NewOrgID(), Ingested: time.Now().UnixMicro(), Retention: 30, Cost: 12, CostKnown: true}
	rows := map[string]*span.Record{}
	for range 700 { // more names than one byte can number
		one := randomRow(r)
		rows[one.ID.String()] = one
		b.AppendSpan(one, s)
	}
	// Half of the readers get what was inserted at once, half what was deferred
	// and inserted from its sealed form: both must be the same.
	parts, err := sealed.Open(sealed.Seal(b.parts()))
	require.NoError(t, err)
	require.NoError(t, w.insertParts(ctx, b.parts(), "t1", "t1"))
	require.NoError(t, w.insertParts(ctx, parts, "t1", "t1"), "the same token again")

	got, err := ch.Writer().Query(ctx, `SELECT lower(hex(span_id)), name, model, user_id, mapKeys(attrs), mapValues(attrs), mapKeys(attrs_json), tags, toUnixTimestamp64Micro(start_time), duration_us, toString(state), toString(status), toString(kind), input_tokens, cost_nano_usd, cost_known, resource FROM spans`)
	require.NoError(t, err)
	defer func() { _ = got.Close() }()
	n := 0
	for got.Next() {
		var id, name, model, user, state, status, kind, resource string
		var keys, values, jsonKeys, tags []string
		var start int64
		var duration, cost uint64
		var tokens uint32
		var known bool
		require.NoError(t, got.Scan(&id, &name, &model, &user, &keys, &values, &jsonKeys, &tags, &start, &duration, &state, &status, &kind, &tokens, &cost, &known, &resource))
		want := rows[id]
		require.NotNil(t, want)
		require.Equal(t, string(want.Name), name)
		require.Equal(t, string(want.Model), model)
		require.Equal(t, string(want.User), user)
		require.Equal(t, want.Start, start)
		require.Equal(t, want.InputTokens, tokens)
		require.Equal(t, uint64(12), cost)
		require.True(t, known)
		require.Equal(t, string(want.Resource), resource)
		require.Equal(t, []string{"unset", "ok", "error"}[want.Status], status)
		require.Equal(t, []string{"internal", "server", "client", "producer", "consumer"}[want.Kind], kind)
		var wantTags, wantKeys, wantValues, wantJSON []string
		for _, tag := range want.Tags {
			wantTags = append(wantTags, string(tag))
		}
		for _, a := range want.Attributes {
			if a.JSON {
				wantJSON = append(wantJSON, string(a.Key))
			} else {
				wantKeys, wantValues = append(wantKeys, string(a.Key)), append(wantValues, string(a.Value))
			}
		}
		require.ElementsMatch(t, wantTags, tags)
		require.ElementsMatch(t, wantKeys, keys)
		require.ElementsMatch(t, wantValues, values)
		require.ElementsMatch(t, wantJSON, jsonKeys)
		n++
	}
	require.NoError(t, got.Err())
	require.Equal(t, 700, n, "one token, one effect")
	var starts uint64
	require.NoError(t, ch.Writer().QueryRow(ctx, "SELECT count() FROM trace_starts").Scan(&starts))
	require.Equal(t, uint64(700), starts, "what views derive is not doubled either")
}

func TestADamagedDeferredBlockIsNoticed(t *testing.T) {
	t.Parallel()
	b := NewBlock()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b.AppendSpan(randomRow(r), Stamp{Org: principal.NewOrgID(), Ingested: 1, Retention: 7})
	}
	text := sealed.Seal(b.parts())
	_, err := sealed.Open(text)
	require.NoError(t, err)
	for i := range text {
		broken := bytes.Clone(text)
		broken[i] ^= 0x10
		_, err := sealed.Open(broken)
		require.ErrorIs(t, err, sealed.ErrDamaged, i)
	}
	for n := range len(text) {
		_, err := sealed.Open(text[:n])
		require.ErrorIs(t, err, sealed.ErrDamaged, n)
	}
}
