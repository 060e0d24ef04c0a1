// Command engines proves that the application outlives its engines.
//
// It starts a set of engines and an application of its own, writes without
// pause, and kills one part after another as a crash would. After each fault
// the engines are brought up again and the application must become ready by
// itself. In the end every acknowledged write must be there exactly once. A
// control then removes one write behind the check's back: a check that does
// not notice fails.
//
// The last line is: engines lost 0 duplicated 0 acked N faults N slowest Ns
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 3, "how often each part is killed")
	writers := flag.Int("writers", 4, "how many clients write at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := prove(ctx, *rounds, *writers)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prove engines:", err)
		os.Exit(1)
	}
}

func prove(ctx context.Context, rounds, writers int) error {
	s, err := start(ctx)
	if err != nil {
		return errors.Join(err, s.stop())
	}
	result, err := run(ctx, s, rounds, writers)
	if err != nil {
		return errors.Join(err, s.Tail("the application's log", "all"), s.stop())
	}
	if err := s.stop(); err != nil {
		return err
	}
	fmt.Println(result)
	return nil
}

// run does the faults under load and checks what is left.
func run(ctx context.Context, s *system, rounds, writers int) (string, error) {
	load := newLoad(s, writers)
	load.begin(ctx)
	defer load.end()

	var slowest time.Duration
	faults := 0
	for round := 1; round <= rounds; round++ {
		for _, victim := range []string{"postgres", "clickhouse", "temporal", "redis", "app"} {
			// Each fault meets a load that is really running.
			if err := load.progress(ctx, 20); err != nil {
				return "", fmt.Errorf("before killing %s: %w", victim, err)
			}
			took, err := s.killAndRecover(ctx, victim)
			if err != nil {
				return "", fmt.Errorf("kill %s: %w", victim, err)
			}
			faults++
			slowest = max(slowest, took)
			fmt.Printf("round %d  killed %-10s  ready again %4.1f s after the engines were up  acked %d\n", round, victim, took.Seconds(), load.acked())
		}
	}
	if err := load.progress(ctx, 20); err != nil {
		return "", err
	}
	load.end()

	lost, duplicated, err := load.verify(ctx)
	if err != nil {
		return "", err
	}
	if lost+duplicated > 0 {
		return "", fmt.Errorf("lost %d, duplicated %d of %d acknowledged writes", lost, duplicated, load.acked())
	}
	if err := load.control(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("engines lost %d duplicated %d acked %d faults %d slowest %.1fs", lost, duplicated, load.acked(), faults, slowest.Seconds()), nil
}
