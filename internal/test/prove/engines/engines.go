// Package engines proves that the application outlives its engines.
//
// It starts a set of engines and an application of its own, writes without
// pause, and kills one part after another as a crash would. After each fault
// the engines are brought up again and the application must become ready by
// itself. In the end every acknowledged write must be there exactly once. A
// control then removes one write behind the check's back: a check that does
// not notice fails.
//
// The last line is: engines lost 0 duplicated 0 acked N faults N slowest Ns
package engines

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	rounds := flags.Int("rounds", 3, "number of kills of each part")
	writers := flags.Int("writers", 4, "number of concurrent writers")
	return func(ctx context.Context) error {
		return rig.Prove(ctx, false, start, func(ctx context.Context, s *system) (rig.Result, error) { return run(ctx, s, *rounds, *writers) })
	}
}

// run does the faults under load and checks what is left.
func run(ctx context.Context, s *system, rounds, writers int) (rig.Result, error) {
	load := newLoad(s, writers)
	load.begin(ctx)
	defer load.end()

	var slowest time.Duration
	faults := 0
	for round := 1; round <= rounds; round++ {
		for _, victim := range []string{"postgres", "clickhouse", "temporal", "redis", "app"} {
			// Each fault meets a load that is really running.
			if err := load.progress(ctx, 20); err != nil {
				return nil, fmt.Errorf("before killing %s: %w", victim, err)
			}
			took, err := s.killAndRecover(ctx, victim)
			if err != nil {
				return nil, fmt.Errorf("kill %s: %w", victim, err)
			}
			faults++
			slowest = max(slowest, took)
			fmt.Printf("round %d  killed %-10s  ready again %4.1f s after the engines were up  acked %d\n", round, victim, took.Seconds(), load.acked())
		}
	}
	if err := load.progress(ctx, 20); err != nil {
		return nil, err
	}
	load.end()

	lost, duplicated, err := load.verify(ctx)
	if err != nil {
		return nil, err
	}
	if lost+duplicated > 0 {
		return nil, fmt.Errorf("lost %d, duplicated %d of %d acknowledged writes", lost, duplicated, load.acked())
	}
	if err := load.control(ctx); err != nil {
		return nil, err
	}
	return rig.Result{"engines"}.With("lost", lost).With("duplicated", duplicated).With("acked", load.acked()).With("faults", faults).
		With("slowest", fmt.Sprintf("%.1fs", slowest.Seconds())), nil
}
