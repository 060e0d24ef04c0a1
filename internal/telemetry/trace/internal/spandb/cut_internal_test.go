package spandb

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/deferred"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/sealed"
)

// someRows adds spans and a log record to blocks.
func someRows(r *rand.Rand, stamp Stamp, trace span.TraceID, to ...*Block) {
	for range 1 + r.IntN(5) {
		row := randomRow(r)
		row.TraceID = trace
		for _, b := range to {
			b.AppendSpan(row, stamp)
		}
	}
	log := &span.LogRecord{TraceID: trace, Time: stamp.Ingested, Name: []byte("log of " + stamp.Org.String()), Body: []byte("body"), Severity: []byte("info")}
	for _, b := range to {
		b.AppendEvent(log, stamp)
	}
}

// TestACutBlockIsTheBlockOfTheRest cuts rows out of sealed blocks: what is left
// is, byte by byte, what a block has that never had them, dictionaries included.
func TestACutBlockIsTheBlockOfTheRest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		d := newFolder(t)
		r := rand.New(rand.NewPCG(seed, 9))
		whole, rest := NewBlock(), NewBlock()
		gone, stays := principal.NewOrgID(), principal.NewOrgID()
		ids := []span.TraceID{{1}, {2}, {3}}
		before := time.Now().Truncate(time.Millisecond)
		cut := []doomed{{Org: gone}}
		if seed%2 == 1 {
			cut = []doomed{{Org: gone, Trace: ids[1], Before: before}}
		}
		for i := range 20 {
			stamp := Stamp{Org: stays, Ingested: before.UnixMicro() + r.Int64N(2)*1000, Retention: 30}
			trace := ids[r.IntN(len(ids))]
			if i == 0 || r.IntN(2) == 0 {
				stamp.Org = gone
			}
			if i == 0 { // one goes at least
				stamp.Ingested, trace = before.UnixMicro(), ids[1]
			}
			to := []*Block{whole}
			if stamp.Org != gone || seed%2 == 1 && (trace != ids[1] || stamp.Ingested > before.UnixMicro()) {
				to = append(to, rest)
			}
			someRows(r, stamp, trace, to...)
		}
		key := d.put(whole.parts(), "one")

		n, err := d.cut(t.Context(), cut)

		require.NoError(t, err)
		require.Equal(t, 1, n)
		text, err := d.blobs.Get(t.Context(), key)
		require.NoError(t, err)
		require.True(t, bytes.Equal(sealed.Seal(rest.parts()), text), "seed %d", seed)
		n, err = d.cut(t.Context(), cut)
		require.NoError(t, err)
		require.Zero(t, n)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()

	t.Run("blocks that are refused, in quarantine or damaged hold nothing of an erased organization", func(t *testing.T) {
		t.Parallel()
		d := newDrained(t)
		org := principal.NewOrgID()
		ours, theirs, mixed := NewBlock(), d.block(3), NewBlock()
		someRows(d.r, Stamp{Org: org, Ingested: d.now().UnixMicro(), Retention: 30}, span.TraceID{1}, ours)
		someRows(d.r, Stamp{Org: org, Ingested: d.now().UnixMicro(), Retention: 30}, span.TraceID{1}, mixed)
		someRows(d.r, Stamp{Org: principal.NewOrgID(), Ingested: d.now().UnixMicro(), Retention: 30}, span.TraceID{1}, mixed)
		d.put(ours.parts(), "ours")
		stays := []string{d.put(theirs.parts(), "theirs"), d.put(mixed.parts(), "mixed")}
		refused := mixed.parts()
		refused[0].Table = "no_such_table"
		stays = append(stays, d.put(refused, "refused"))
		quarantined := quarantineKey(d.now(), deferred.Key(d.now(), "kept"))
		require.NoError(t, d.blobs.Put(t.Context(), quarantined, sealed.Seal(mixed.parts())))
		for _, key := range []string{deferred.Key(d.now(), "damaged"), quarantineKey(d.now(), "damaged")} {
			require.NoError(t, d.blobs.Put(t.Context(), key, []byte("no block")))
		}

		n, err := d.cut(t.Context(), []doomed{{Org: org}})

		require.NoError(t, err)
		require.Equal(t, 6, n)
		require.ElementsMatch(t, stays, d.waiting())
		require.Equal(t, []string{quarantined}, d.under(quarantinePrefix))
		for _, key := range append(stays, quarantined) {
			require.NotContains(t, orgsOf(t, d, key), org)
		}
	})

	t.Run("a damaged block stays when a trace goes", func(t *testing.T) {
		t.Parallel()
		d := newFolder(t)
		damaged := quarantineKey(d.now(), "damaged")
		require.NoError(t, d.blobs.Put(t.Context(), damaged, []byte("no block")))
		n, err := d.cut(t.Context(), []doomed{{Org: principal.NewOrgID(), Trace: span.TraceID{1}}})
		require.NoError(t, err)
		require.Zero(t, n)
		require.Equal(t, []string{damaged}, d.under(quarantinePrefix))
	})

	t.Run("what is left can be inserted", func(t *testing.T) {
		t.Parallel()
		d := newDrained(t)
		b := d.block(20)
		d.put(b.parts(), "one")
		_, err := d.cut(t.Context(), []doomed{{Org: orgOf(t, b)}})
		require.NoError(t, err)
		n, err := d.drain(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, 19, d.count("spans"))
	})
}

// orgOf is the organization of a block's first span.
func orgOf(t *testing.T, b *Block) (org principal.OrgID) {
	t.Helper()
	var id proto.ColUUID
	require.NoError(t, id.DecodeColumn(proto.NewReader(bytes.NewReader(b.spans.org.buf)), b.Spans()))
	return principal.OrgID(id[0])
}

// orgsOf are the organizations of an object's rows.
func orgsOf(t *testing.T, d drained, key string) (all []principal.OrgID) {
	t.Helper()
	text, err := d.blobs.Get(t.Context(), key)
	require.NoError(t, err)
	parts, err := sealed.Open(text)
	require.NoError(t, err)
	for _, p := range parts {
		data := p.Bytes("org_id", 16*p.Input[0].Data.Rows())
		var ids proto.ColUUID
		require.NoError(t, ids.DecodeColumn(proto.NewReader(bytes.NewReader(data)), len(data)/16))
		for _, id := range ids {
			all = append(all, principal.OrgID(id))
		}
	}
	return all
}

func TestQuarantine(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := newDrained(t)
	now := time.Now()
	d.now = func() time.Time { return now }
	refused := d.block(2).parts()
	refused[0].Table = "no_such_table"
	bad := d.put(refused, "bad")
	drain := func() {
		t.Helper()
		_, err := d.drain(ctx)
		require.NoError(t, err)
	}

	// ClickHouse takes no other block: nobody knows whose fault it is.
	for range 2 * deferred.MaxRefusals {
		drain()
		now = now.Add(deferred.RefusedFor)
	}
	require.Equal(t, []string{bad}, d.waiting())

	// It takes others, and this one still not.
	d.put(d.block(1).parts(), "good")
	drain()
	drain()
	require.Empty(t, d.waiting())
	kept := d.under(quarantinePrefix)
	require.Len(t, kept, 1)

	// What it is refused for may be mended.
	require.NoError(t, d.ch.Writer().Exec(ctx, "CREATE TABLE no_such_table AS spans"))
	now = now.Add(deferred.ReviewEvery)
	drain()
	require.Empty(t, d.under(quarantinePrefix))
	require.Equal(t, 2, d.count("no_such_table"))

	// What nobody can store goes in the end.
	for i := range 3 {
		require.NoError(t, d.blobs.Put(ctx, quarantineKey(now, strconv.Itoa(i)), []byte("no block")))
	}
	now = now.Add(QuarantineFor - time.Minute)
	drain()
	require.Len(t, d.under(quarantinePrefix), 3)
	now = now.Add(deferred.ReviewEvery)
	drain()
	require.Empty(t, d.under(quarantinePrefix))
}

// TestABlockThatWasHeldTooLongIsNotWritten is about a process that was suspended:
// what it holds was taken in under a key that may have ended.
func TestABlockThatWasHeldTooLongIsNotWritten(t *testing.T) {
	t.Parallel()
	d := newDrained(t)
	b := d.block(1)
	now := time.Now().Add(d.longest() + time.Second)
	d.now = func() time.Time { return now }
	_, err := d.write(t.Context(), b, "late")
	require.ErrorIs(t, err, ErrHeld)
	require.Zero(t, d.count("spans"))
	require.Empty(t, d.waiting())
}
