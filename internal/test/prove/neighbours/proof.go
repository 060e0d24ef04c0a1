package neighbours

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// settling is how long the quiet organization is alone between two attacks.
const settling = 2 * time.Second

// proof is the quiet organization's life, in periods.
type proof struct {
	options
	s     *system
	quiet *quiet
	alone figures

	stop   func()
	living *sync.WaitGroup

	requests, runs int
	attackers      byte
}

// figures sum up a period.
type figures struct {
	requests, runs int
	p50, p99, run  time.Duration
	slowest        string // what took p99 or longer
	errors         []string
}

func (p *period) figures() figures {
	took := make([]time.Duration, len(p.requests))
	for i, r := range p.requests {
		took[i] = r.took
	}
	f := figures{
		requests: len(took), runs: len(p.runs), errors: p.errors,
		p50: quantile(took, 0.5), p99: quantile(took, 0.99), run: quantile(p.runs, 0.5),
	}
	for _, r := range p.requests {
		if r.took == f.p99 {
			f.slowest = r.what
		}
	}
	return f
}

// String shows the figures.
func (f figures) String() string {
	return fmt.Sprintf("requests %d p50 %s p99 %s (%s)  runs %d of %s", f.requests, f.p50.Round(time.Millisecond), f.p99.Round(time.Millisecond), f.slowest, f.runs, f.run.Round(time.Millisecond))
}

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[int(q*float64(len(sorted)-1))]
}

// begin lets the quiet organization live, and measures it alone.
func (p *proof) begin(ctx context.Context) (err error) {
	if p.quiet, err = newQuiet(ctx, p.s); err != nil {
		return err
	}
	living, stop := context.WithCancel(ctx)
	p.stop, p.living = stop, p.quiet.live(living)
	if err := rig.Sleep(ctx, settling); err != nil { // caches fill
		return err
	}
	p.quiet.turn()
	if err := rig.Sleep(ctx, p.options.alone); err != nil {
		return err
	}
	p.alone = p.quiet.turn().figures()
	if len(p.alone.errors) > 0 {
		return fmt.Errorf("the quiet organization fails alone: %s", p.alone.errors[0])
	}
	return nil
}

// end ends the quiet organization and counts what it has.
func (p *proof) end(ctx context.Context) error {
	p.stop()
	p.living.Wait()
	var stored uint64
	err := p.s.spans.Writer().QueryRow(ctx, "SELECT uniqExact(trace_id, span_id) FROM spans WHERE org_id = ?", p.quiet.org.ID).Scan(&stored)
	if err != nil {
		return err
	}
	if stored < uint64(p.quiet.acked) {
		return fmt.Errorf("lost: %d spans were acknowledged and %d are stored", p.quiet.acked, stored)
	}
	return nil
}

// outcome is what an attack did to the quiet organization and the processes.
type outcome struct {
	name string
	figures
	ratio, runRatio float64
	server, worker  int64 // most memory
	allowed         int64 // of each
	blows           tally
	died            error
}

// String is one line of the table.
func (o outcome) String() string {
	return fmt.Sprintf("%-28s ratio %5.2f  run_ratio %5.2f  errors %d  %s  server %d MB worker %d MB  attacker %s",
		o.name, o.ratio, o.runRatio, len(o.errors), o.figures, o.server>>20, o.worker>>20, o.blows)
}

// guilty is how the attack harmed the quiet organization or the processes.
func (o outcome) guilty() error {
	var errs []error
	switch {
	case o.died != nil:
		errs = append(errs, o.died)
	case o.requests == 0:
		errs = append(errs, errors.New("the quiet organization had no answer at all"))
	case o.runs == 0:
		errs = append(errs, errors.New("no run of the quiet organization ended"))
	}
	if n := len(o.errors); n > 0 {
		errs = append(errs, fmt.Errorf("the quiet organization has seen %d errors, first: %s", n, o.errors[0]))
	}
	if o.ratio > floorRatio {
		errs = append(errs, fmt.Errorf("its requests take %.1f times as long as alone, at most %.0f is allowed", o.ratio, floorRatio))
	}
	if o.runRatio > floorRun {
		errs = append(errs, fmt.Errorf("its runs take %.1f times as long as alone, at most %.0f is allowed", o.runRatio, floorRun))
	}
	for name, memory := range map[string]int64{"server": o.server, "worker": o.worker} {
		if memory > o.allowed {
			errs = append(errs, fmt.Errorf("the %s has %d MB in memory, and %d MB is allowed", name, memory>>20, o.allowed>>20))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", o.name, errors.Join(errs...))
}

// onlySlow reports whether an attack did nothing worse than to slow requests down.
func (o outcome) onlySlow() bool {
	slow := o.ratio > floorRatio
	o.ratio = 0
	return slow && o.guilty() == nil
}

// attack lets an organization attack for a while, and sums up.
func (p *proof) attack(ctx context.Context, a attack) (out outcome, err error) {
	out = outcome{name: a.name}
	org, err := p.s.Bootstrap(ctx, "Attacker of "+a.name)
	if err != nil {
		return out, err
	}
	p.attackers++
	x := newAttacker(p.s, org, p.attackers)
	if a.prepare != nil {
		if err := a.prepare(ctx, x); err != nil {
			return out, fmt.Errorf("prepare: %w", err)
		}
	}
	if err := rig.Sleep(ctx, settling); err != nil {
		return out, err
	}
	before, err := p.memories()
	if err != nil {
		return out, err
	}
	out.allowed = max(before.server, before.worker) + budgetWeight*budgetBytes
	p.quiet.turn()
	attacking, stop := context.WithTimeout(ctx, p.each)
	defer stop()
	blows := x.strike(attacking, a)
	for attacking.Err() == nil && out.died == nil {
		now, err := p.memories()
		if err != nil {
			out.died = p.dead(err)
			break
		}
		out.server, out.worker = max(out.server, now.server), max(out.worker, now.worker)
		_ = rig.Sleep(attacking, 20*time.Millisecond)
	}
	stop()
	blows.Wait()
	out.blows = x.tally()
	x.client.CloseIdleConnections()
	out.figures = p.quiet.turn().figures()
	out.ratio = float64(out.p99) / float64(max(p.alone.p99, 1))
	out.runRatio = float64(out.run) / float64(max(p.alone.run, 1))
	p.requests += out.requests
	p.runs += out.runs
	return out, nil
}

type memories struct{ server, worker int64 }

func (p *proof) memories() (m memories, err error) {
	if m.server, err = bench.Memory(p.s.Server.PID()); err != nil {
		return m, err
	}
	m.worker, err = bench.Memory(p.s.Worker.PID())
	return m, err
}

// dead says which process has ended.
func (p *proof) dead(err error) error {
	for _, process := range []*rig.Process{p.s.Server, p.s.Worker} {
		select {
		case <-process.Exited():
			return process.Ended()
		default:
		}
	}
	return err
}
