package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// verdict is what is left of a load in the end, in spans.
type verdict struct {
	acked, deferred, looks int64
	lost, duplicated, late int64
	// stray spans are stored and were never acknowledged: nothing forbids that.
	stray int64
	// wrong rows are not what was sent; derived is what the tables that
	// ClickHouse fills by itself lack or have twice.
	wrong, derived int64
	missing        map[uint64]bool // the lost spans, of whatever table

	rig.Examples
}

func (v verdict) String() string {
	return fmt.Sprintf("checked: acked %d (deferred %d) lost %d duplicated %d wrong %d derived %d stray %d late %d of %d batches read back",
		v.acked, v.deferred, v.lost, v.duplicated, v.wrong, v.derived, v.stray, v.late, v.looks)
}

// guilty is an error if a promise was broken.
func (v verdict) guilty() error {
	if v.lost+v.duplicated+v.late+v.wrong+v.derived == 0 {
		return nil
	}
	return fmt.Errorf("lost %d, duplicated %d, late %d, wrong %d, derived %d of %d acknowledged spans\n%s",
		v.lost, v.duplicated, v.late, v.wrong, v.derived, v.acked, v.Examples)
}

// verdict ends the load, waits until nothing is deferred, and compares what
// ClickHouse has with what the oracles say.
func (p *proof) verdict(ctx context.Context) (verdict, error) {
	p.load.end()
	v := verdict{
		acked: p.load.acked(), deferred: p.load.deferred(), looks: p.load.looks.Load(), late: p.load.late.Load(),
		missing: map[uint64]bool{},
	}
	if err := errors.Join(p.load.complaint(), p.drained(ctx)); err != nil {
		return v, err
	}
	for _, o := range p.load.oracles {
		if err := errors.Join(o.check(), o.close()); err != nil {
			return v, err
		}
	}
	if err := v.table(ctx, p.load, "spans", func(int) bool { return true }); err != nil {
		return v, err
	}
	if err := v.table(ctx, p.load, "span_payloads", hasText); err != nil {
		return v, err
	}
	return v, v.views(ctx, p.load)
}

// table compares one table row by row. Only spans for which in is true have a
// row in it.
func (v *verdict) table(ctx context.Context, l *load, table string, in func(i int) bool) error {
	isSpans := table == "spans"
	columns := "toUInt32(0), toUInt32(0)"
	if isSpans {
		columns = "input_tokens, output_tokens"
	}
	rows, err := l.s.direct.Query(ctx, fmt.Sprintf(
		"SELECT toString(org_id), trace_id, reinterpretAsUInt64(reverse(span_id)), %s FROM %s FINAL WHERE %s", columns, table, l.ours()))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	seen := map[uint64]int{}
	var sumIn, sumOut, wantIn, wantOut uint64
	for rows.Next() {
		var org, trace string
		var id uint64
		var input, output uint32
		if err := rows.Scan(&org, &trace, &id, &input, &output); err != nil {
			return err
		}
		seen[id]++
		sender, number, index := fromSpanID(id)
		if !l.sent(sender, number, index) {
			v.wrong++
			v.Example("%s has the span %016x, which nobody sent", table, id)
			continue
		}
		b := batch{salt: l.salt, sender: sender, number: number}
		wantTrace := b.traceID(index)
		wrong := org != l.orgOf(sender).ID || trace != string(wantTrace[:]) || !in(index)
		if isSpans {
			x, y := tokens(id)
			wrong = wrong || input != x || output != y
			sumIn, sumOut, wantIn, wantOut = sumIn+uint64(input), sumOut+uint64(output), wantIn+uint64(x), wantOut+uint64(y)
		}
		if wrong {
			v.wrong++
			v.Example("%s has the span %016x of organization %s with %d and %d tokens, which is not what was sent", table, id, org, input, output)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if sumIn != wantIn || sumOut != wantOut {
		v.wrong++
		v.Example("the tokens sum up to %d and %d, and %d and %d were sent", sumIn, sumOut, wantIn, wantOut)
	}
	v.compare(l, table, in, seen, isSpans)
	return nil
}

// compare counts what was found against what was acknowledged.
func (v *verdict) compare(l *load, table string, in func(i int) bool, seen map[uint64]int, strays bool) {
	for sender, o := range l.oracles {
		for number, e := range o.entries {
			b := batch{sender: uint16(sender), number: uint32(number)}
			for i := range e.spans {
				if !in(i) {
					continue
				}
				switch n := seen[b.spanID(i)]; {
				case n > 1:
					v.duplicated++
					v.Example("%s has the span %016x %d times", table, b.spanID(i), n)
				case n == 0 && e.outcome != intended:
					v.missing[b.spanID(i)] = true
					v.lost = int64(len(v.missing))
					v.Example("%s lacks the span %016x: sender %d, batch %d, outcome %d, acknowledged during fault %d", table, b.spanID(i), sender, number, e.outcome, e.during)
				case n == 1 && e.outcome == intended && strays:
					v.stray++
				}
			}
		}
	}
}

// sent tells whether a span with such an id was ever on its way.
func (l *load) sent(sender uint16, number uint32, index int) bool {
	if int(sender) >= len(l.oracles) {
		return false
	}
	e, ok := l.oracles[sender].at(number)
	return ok && index >= 0 && index < e.spans
}

// views checks that the tables which follow from spans have every trace, once.
func (v *verdict) views(ctx context.Context, l *load) error {
	for table, key := range map[string]string{"traces": "trace_id, month", "trace_starts": "trace_id, minute"} {
		var rows, keys, missing uint64
		if err := l.s.ask(ctx, fmt.Sprintf("SELECT count(), uniqExact(%s) FROM %s FINAL WHERE %s", key, table, l.ours()), &rows, &keys); err != nil {
			return err
		}
		err := l.s.ask(ctx, fmt.Sprintf("SELECT uniqExact(trace_id) FROM spans WHERE %s AND trace_id NOT IN (SELECT trace_id FROM %s WHERE %s)",
			l.ours(), table, l.ours()), &missing)
		if err != nil {
			return err
		}
		if rows != keys || missing > 0 {
			v.derived += int64(rows - keys + missing)
			v.Example("%s has %d rows for %d keys and lacks %d traces", table, rows, keys, missing)
		}
	}
	return nil
}
