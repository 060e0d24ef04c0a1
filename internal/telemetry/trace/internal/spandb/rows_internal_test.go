package spandb

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/sealed"
)

// encoded is what would be sent of a block. Dictionaries are numbered in the
// order of arrival, so equal rows in equal order are equal bytes.
func encoded(b *Block) []byte { return sealed.Seal(b.parts()) }

func TestABlockTakesOverTheRowsOfRequests(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		straight, shared := NewBlock(), NewBlock()
		s := Stamp{Org: principal.NewOrgID(), Ingested: time.Now().UnixMicro(), Retention: 90}
		for range 1 + r.IntN(5) {
			rows := NewRows(s.Ingested, Clean{})
			for range r.IntN(300) {
				one := randomRow(r)
				straight.AppendSpan(one, s)
				require.Empty(t, rows.AppendSpan(one, s))
			}
			require.NoError(t, rows.MoveLive(shared))
			rows.Release()
		}
		require.NoError(t, shared.check())
		require.Equal(t, straight.Rows(), shared.Rows())
		require.Equal(t, straight.Bytes(), shared.Bytes())
		require.Equal(t, encoded(straight), encoded(shared))
	}
}

// brokenColumn panics in the middle of a copy.
type brokenColumn struct{ column }

func (brokenColumn) take(column) { panic("a fault in the program") }

// TestAFaultLeavesASharedBlockAsItWas breaks each column in turn.
func TestAFaultLeavesASharedBlockAsItWas(t *testing.T) {
	t.Parallel()
	s := Stamp{Org: principal.NewOrgID(), Ingested: time.Now().UnixMicro(), Retention: 90}
	for i := range NewBlock().all {
		r := rand.New(rand.NewPCG(uint64(i), 5))
		fill := func() *Block {
			b := NewBlock()
			for range 20 {
				b.AppendSpan(randomRow(r), s)
				b.AppendEvent(&span.LogRecord{Name: []byte("x"), Body: []byte("y")}, s)
			}
			b.note(7)
			return b
		}
		shared, one := fill(), fill()
		one.note(8)
		before, size := encoded(shared), shared.Bytes()
		whole := shared.all[i]
		shared.all[i] = brokenColumn{whole}
		require.Panics(t, func() { _ = shared.take(one) })
		shared.all[i] = whole
		require.NoError(t, shared.check())
		require.Equal(t, size, shared.Bytes())
		require.Equal(t, []partition{7}, shared.partitions)
		require.Equal(t, before, encoded(shared))
		require.NoError(t, shared.take(fill()), "the next request is stored")
		require.NoError(t, shared.check())
	}
}

// TestUnevenColumnsGoNowhere makes each column of a request and of a shared block
// longer than the others.
func TestUnevenColumnsGoNowhere(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	s := Stamp{Org: principal.NewOrgID(), Ingested: time.Now().UnixMicro(), Retention: 90}
	fill := func() *Block {
		b := NewBlock()
		one := randomRow(r)
		one.Input = []byte("x")
		b.AppendSpan(one, s)
		b.AppendEvent(&span.LogRecord{Name: []byte("x")}, s)
		return b
	}
	for i := range NewBlock().all {
		uneven := fill()
		uneven.all[i].take(fill().all[i])
		shared := fill()
		before := encoded(shared)
		require.ErrorIs(t, shared.take(uneven), errUneven, i)
		require.Equal(t, before, encoded(shared), "the others go on")
		w := &writer{now: time.Now} // reaching for ClickHouse or object storage would panic
		_, err := w.write(t.Context(), uneven, "token")
		require.ErrorIs(t, err, errUneven, i)
	}
}

// TestNamesAreCleanedOnce shows that a text that many rows share goes through
// Clean in each column where it is, once.
func TestNamesAreCleanedOnce(t *testing.T) {
	t.Parallel()
	calls := 0
	clean := Clean{
		Text: func(v []byte) []byte { calls++; return bytes.ReplaceAll(v, []byte("secret"), []byte("***")) },
		JSON: func([]byte) []byte { return []byte("{}") },
	}
	s := Stamp{Ingested: time.Now().UnixMicro(), Retention: 90}
	rows := NewRows(s.Ingested, clean)
	for range 1000 {
		r := &span.Record{Fields: span.Fields{Start: s.Ingested, Name: []byte("a secret name")}, Tags: [][]byte{[]byte("secret")}, Resource: []byte(`{"secret":1}`)}
		rows.AppendSpan(r, s)
	}
	shared := NewBlock()
	require.NoError(t, rows.MoveLive(shared))
	rows.Release()
	require.Less(t, calls, 20)
	sealed := string(shared.spans.name.words.buf) + string(shared.spans.tags.items.words.buf) + string(shared.spans.resource.words.buf)
	require.NotContains(t, sealed, "secret")
	require.Contains(t, sealed, "a *** name")
	again := NewRows(s.Ingested, Clean{})
	again.AppendSpan(&span.Record{Fields: span.Fields{Start: s.Ingested, Name: []byte("a secret name")}}, s)
	require.Contains(t, string(again.live.spans.name.words.buf), "secret", "a block that is used again forgets whose it was")
}

func TestOldRowsHaveFewPartitionsABlock(t *testing.T) {
	t.Parallel()
	now := time.Now().UnixMicro()
	add := func(retention uint16, days ...int) *Rows {
		rows := NewRows(now, Clean{})
		for _, d := range days {
			require.Empty(t, rows.AppendSpan(&span.Record{Fields: span.Fields{Start: now - int64(d)*day}}, Stamp{Ingested: now, Retention: retention}))
		}
		return rows
	}
	var year, again []int
	for d := range 400 {
		year = append(year, d)
	}
	again = append(append(again, year...), year...)
	for _, c := range []struct {
		retention uint16
		days      []int
		blocks    int
	}{{90, year, 40}, {90, again, 40}, {400, year, 2}, {90, []int{0, 2}, 0}, {90, []int{4}, 1}} {
		rows := add(c.retention, c.days...)
		require.Len(t, rows.old, c.blocks)
		n := rows.live.Spans()
		for _, b := range rows.old {
			require.LessOrEqual(t, len(b.partitions), maxPartitions)
			n += b.Spans()
		}
		require.Equal(t, len(c.days), n)
	}
	rows := NewRows(now, Clean{})
	taken := 0
	for d := range 1000 {
		if rows.AppendSpan(&span.Record{Fields: span.Fields{Start: now - int64(36+d)*day}}, Stamp{Ingested: now, Retention: 90}) == "" {
			taken++
		}
	}
	require.Equal(t, maxOldBlocks*maxPartitions, taken)
	require.Len(t, rows.old, maxOldBlocks)
}
