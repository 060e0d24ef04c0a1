package trace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/principal"
)

// randomRow makes a row with something in most of its fields.
func randomRow(r *rand.Rand) *row {
	text := func(n int) []byte {
		b := make([]byte, r.IntN(n+1))
		for i := range b {
			b[i] = byte(' ' + r.IntN(95))
		}
		return b
	}
	out := &row{told: told{
		start: time.Now().UnixMicro() - r.Int64N(1e9), status: int8(r.IntN(3)), kind: int8(r.IntN(5)), primitive: []string{"", "model_call", "tool_call"}[r.IntN(3)],
		name: text(20), statusMessage: text(10), agent: text(3), model: text(3), provider: text(3), tool: text(3),
		conversation: text(8), user: text(8), inputTokens: r.Uint32(), outputTokens: r.Uint32(), cachedTokens: r.Uint32(), reasoning: r.Uint32(), firstToken: r.Uint32(),
	}}
	out.service, out.environment, out.release, out.resource = text(3), text(2), text(2), []byte(`{"service.name":"x"}`)
	for i := range out.trace {
		out.trace[i] = byte(r.Uint32())
	}
	for i := range out.span {
		out.span[i] = byte(r.Uint32())
	}
	if r.IntN(2) == 0 {
		out.end = out.start + r.Int64N(1e6)
	}
	for range r.IntN(4) {
		out.tags = append(out.tags, text(4))
	}
	for i := range r.IntN(6) {
		out.attrs = append(out.attrs, attr{key: fmt.Appendf(nil, "key %d", i*r.IntN(3)), value: text(30), json: r.IntN(2) == 0})
	}
	if r.IntN(2) == 0 {
		out.input, out.output = text(300), text(300)
	}
	return out
}

func TestABlockForgetsARequestThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		kept, tried := newBlock(), newBlock()
		s := stored{org: principal.NewOrgID(), ingested: time.Now().UnixMicro(), retention: 90}
		for range 1 + r.IntN(5) {
			good := make([]*row, r.IntN(4))
			for i := range good {
				good[i] = randomRow(r)
				kept.appendSpan(good[i], s)
			}
			size := tried.mark()
			for range r.IntN(4) {
				tried.appendSpan(randomRow(r), s)
				tried.appendEvent(&logRow{name: []byte("x")}, s)
			}
			tried.rollback(size)
			for _, g := range good {
				tried.appendSpan(g, s)
			}
		}
		require.Equal(t, kept.Rows(), tried.Rows())
		require.Equal(t, kept.Bytes(), tried.Bytes())
		require.Equal(t, contents(t, kept), contents(t, tried))
	}
}

// contents stores a block and reads every column back.
func contents(t *testing.T, b *block) string {
	t.Helper()
	if b.Rows() == 0 {
		return ""
	}
	var text bytes.Buffer
	for _, p := range b.parts() {
		for _, c := range p.Input {
			// The dictionary may hold words that no row uses; what rows say counts.
			if l, ok := c.Data.(*labels); ok {
				fmt.Fprintf(&text, "%s %s %q\n", p.table, c.Name, spelled(l))
				continue
			}
			fmt.Fprintf(&text, "%s %s rows %d\n", p.table, c.Name, c.Data.Rows())
		}
	}
	return text.String()
}

// spelled is the column as texts.
func spelled(c *labels) []string {
	out := make([]string, len(c.keys))
	for i, k := range c.keys {
		out[i] = c.spelled[k]
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
	b, s := newBlock(), stored{org: principal.NewOrgID(), ingested: time.Now().UnixMicro(), retention: 30, cost: 12, costKnown: true}
	rows := map[string]*row{}
	for range 700 { // more names than one byte can number
		one := randomRow(r)
		rows[one.span.String()] = one
		b.appendSpan(one, s)
	}
	// Half of the readers get what was inserted at once, half what was deferred
	// and inserted from its sealed form: both must be the same.
	parts, err := openParts(sealParts(b.parts()))
	require.NoError(t, err)
	require.NoError(t, w.insertParts(ctx, b.parts(), "t1"))
	require.NoError(t, w.insertParts(ctx, parts, "t1"), "the same token again")

	got, err := ch.Reader().Query(ctx, `SELECT lower(hex(span_id)), name, model, user_id, mapKeys(attrs), mapValues(attrs), mapKeys(attrs_json), tags, toUnixTimestamp64Micro(start_time), duration_us, toString(state), toString(status), toString(kind), input_tokens, cost_nano_usd, cost_known, resource FROM spans`)
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
		require.Equal(t, string(want.name), name)
		require.Equal(t, string(want.model), model)
		require.Equal(t, string(want.user), user)
		require.Equal(t, want.start, start)
		require.Equal(t, want.inputTokens, tokens)
		require.Equal(t, uint64(12), cost)
		require.True(t, known)
		require.Equal(t, string(want.resource), resource)
		require.Equal(t, []string{"unset", "ok", "error"}[want.status], status)
		require.Equal(t, []string{"internal", "server", "client", "producer", "consumer"}[want.kind], kind)
		var wantTags, wantKeys, wantValues, wantJSON []string
		for _, tag := range want.tags {
			wantTags = append(wantTags, string(tag))
		}
		for _, a := range want.attrs {
			if a.json {
				wantJSON = append(wantJSON, string(a.key))
			} else {
				wantKeys, wantValues = append(wantKeys, string(a.key)), append(wantValues, string(a.value))
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
	require.NoError(t, ch.Reader().QueryRow(ctx, "SELECT count() FROM trace_starts").Scan(&starts))
	require.Equal(t, uint64(700), starts, "what views derive is not doubled either")
}

func TestADamagedDeferredBlockIsNoticed(t *testing.T) {
	t.Parallel()
	b := newBlock()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b.appendSpan(randomRow(r), stored{org: principal.NewOrgID(), ingested: 1, retention: 7})
	}
	sealed := sealParts(b.parts())
	_, err := openParts(sealed)
	require.NoError(t, err)
	for i := range sealed {
		broken := bytes.Clone(sealed)
		broken[i] ^= 0x10
		_, err := openParts(broken)
		require.ErrorIs(t, err, errSealed, i)
	}
	for n := range len(sealed) {
		_, err := openParts(sealed[:n])
		require.ErrorIs(t, err, errSealed, n)
	}
}
