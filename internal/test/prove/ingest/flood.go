package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/test/bench"
)

const (
	// A request of the flood is about 200 KB: half of its spans carry a
	// conversation.
	floodSpans, floodText = 24, 16 << 10
	// calmRate is how many of them a second are offered before, and floodRate
	// during the flood.
	calmRate, floodRate = 20, 10 * calmRate
	// inflightWeight is what a byte of inflightLimit takes in memory at most.
	inflightWeight = 6
)

// flood offers ten times as much as before while ClickHouse is away, and
// returns the application's peak memory over what it had before. Most of the
// time object storage hangs too, so that every request is held as long as it
// can be; then object storage takes what comes, and in the end ClickHouse does.
func (p *proof) flood(ctx context.Context, away time.Duration) (ratio float64, err error) {
	if err := p.load.settle(ctx); err != nil || away == 0 {
		return 0, err
	}
	f := &flood{load: p.load, pid: p.s.Server.PID()}
	defer f.requests.Wait()
	for range p.s.orgs {
		s, err := p.load.newSender(-1)
		if err != nil {
			return 0, err
		}
		f.senders = append(f.senders, s)
	}
	hang := toxic{"timeout", "upstream", map[string]any{"timeout": 0}}
	clickhouse, s3 := p.s.net.proxies["clickhouse"], p.s.net.proxies[inS3]
	refused := p.load.refused.Load()
	var before, hanging, deferring, draining, after int64
	for _, step := range []struct {
		peak *int64
		do   func() error
	}{
		{&before, func() error { return f.offer(ctx, calmRate, away/6) }},
		{&hanging, func() error { return errors.Join(clickhouse.spoil(ctx, hang), s3.spoil(ctx, hang)) }},
		{&hanging, func() error { return f.offer(ctx, floodRate, away-away/12) }},
		{&hanging, func() error { f.requests.Wait(); return s3.heal(ctx) }},
		{&deferring, func() error { return f.offer(ctx, floodRate, away/12) }},
		{&deferring, func() error { f.requests.Wait(); return clickhouse.heal(ctx) }},
		{&draining, func() error { return errors.Join(p.load.settle(ctx), p.drained(ctx)) }},
		{&after, func() error { return f.offer(ctx, calmRate, away/6) }},
	} {
		if err := f.watch(step.peak, step.do); err != nil {
			return 0, err
		}
	}
	refused = p.load.refused.Load() - refused
	peak := max(hanging, deferring, draining, after)
	ratio = float64(peak) / float64(before)
	fmt.Printf("flood  memory %d MB before, %d MB while everything hangs, %d MB while blocks are deferred, %d MB while they are stored, %d MB after (%.2f)  refused %d\n",
		before>>20, hanging>>20, deferring>>20, draining>>20, after>>20, float64(after)/float64(before), refused)
	if refused == 0 {
		return 0, errors.New("nothing was refused, so it was no flood")
	}
	if most := before + inflightWeight*inflightLimit; peak > most {
		p.fail(fmt.Errorf("memory grew from %d MB to %d MB, which is above %d MB, and %d MB may be in flight", before>>20, peak>>20, most>>20, inflightLimit>>20))
	}
	return ratio, p.load.complaint()
}

// flood sends without waiting for answers.
type flood struct {
	load     *load
	pid      int
	senders  []*sender
	requests sync.WaitGroup
}

// watch does something and notes the most memory that the application had
// meanwhile.
func (f *flood) watch(peak *int64, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var failed error
	for {
		memory, err := bench.Memory(f.pid)
		if failed == nil {
			failed = err
		}
		*peak = max(*peak, memory)
		select {
		case err := <-done:
			return errors.Join(err, failed)
		case <-tick.C:
		}
	}
}

// offer sends so many requests a second for a time, each once.
func (f *flood) offer(ctx context.Context, rate int, d time.Duration) error {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for end, n := time.Now().Add(d), 0; time.Now().Before(end); n++ {
		if err := f.one(ctx, f.senders[n%len(f.senders)]); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func (f *flood) one(ctx context.Context, s *sender) error {
	b := s.batch(floodSpans, floodText)
	body, err := b.encode()
	if err != nil {
		return err
	}
	if err := s.oracle.intend(b); err != nil {
		return err
	}
	f.requests.Go(func() {
		if a := s.post(ctx, body); a.acked {
			s.acknowledged(ctx, b, a, 0)
		}
	})
	return nil
}
