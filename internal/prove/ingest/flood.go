package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// A request of the flood is about 200 KB: half of its spans carry a
	// conversation.
	floodSpans, floodText = 24, 16 << 10
	// calmRate is how many of them a second are offered before, and floodRate
	// during the flood.
	calmRate, floodRate = 20, 10 * calmRate
	// inflightLimit is what the application may hold of what it was sent; the
	// proof runs it as it is shipped.
	inflightLimit = 256 << 20
)

// flood offers ten times as much as before while ClickHouse is away, and
// returns the application's peak memory over what it had before. Most of the
// time object storage hangs too, so that every request is held as long as it
// can be; then object storage takes what comes.
func (p *proof) flood(ctx context.Context, away time.Duration) (ratio float64, err error) {
	if err := p.load.settle(ctx); err != nil || away == 0 {
		return 0, err
	}
	f := &flood{load: p.load, pid: p.s.app.Process.Pid}
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
	var before, hanging, deferring, after int64
	for _, step := range []func() error{
		func() error { return f.offer(ctx, calmRate, away/6, &before) },
		func() error { return errors.Join(clickhouse.spoil(ctx, hang), s3.spoil(ctx, hang)) },
		func() error { return f.offer(ctx, floodRate, away-away/12, &hanging) },
		func() error { f.requests.Wait(); return s3.heal(ctx) },
		func() error { return f.offer(ctx, floodRate, away/12, &deferring) },
		func() error { f.requests.Wait(); return clickhouse.heal(ctx) },
		func() error { return errors.Join(p.load.settle(ctx), p.drained(ctx)) },
		func() error { return f.offer(ctx, calmRate, away/6, &after) },
	} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	refused = p.load.refused.Load() - refused
	peak := max(hanging, deferring)
	ratio = float64(peak) / float64(before)
	fmt.Printf("flood  memory %d MB before, %d MB while everything hangs, %d MB while blocks are deferred, %d MB after (%.2f)  refused %d\n",
		before>>20, hanging>>20, deferring>>20, after>>20, float64(after)/float64(before), refused)
	if refused == 0 {
		return 0, errors.New("nothing was refused, so it was no flood")
	}
	if peak > before+inflightLimit {
		p.fail(fmt.Errorf("memory grew from %d MB to %d MB, by more than the %d MB that may be in flight", before>>20, peak>>20, inflightLimit>>20))
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

// offer sends so many requests a second for a time, each once, and notes the
// most memory that the application had.
func (f *flood) offer(ctx context.Context, rate int, d time.Duration, peak *int64) error {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for end, n := time.Now().Add(d), 0; time.Now().Before(end); n++ {
		if err := f.one(ctx, f.senders[n%len(f.senders)]); err != nil {
			return err
		}
		memory, err := residentMemory(f.pid)
		if err != nil {
			return err
		}
		*peak = max(*peak, memory)
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

// residentMemory is what a process has in memory.
func residentMemory(pid int) (int64, error) {
	if runtime.GOOS != "linux" {
		return 0, errors.New("memory is read from /proc, which only Linux has")
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm of %d says %q", pid, text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
