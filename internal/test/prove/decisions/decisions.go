// Package decisions proves that gates are wrong as seldom as they say.
//
// It draws runs from known truths, most of them where a decision is hardest:
// exactly at the threshold, or exactly a margin below the baseline. It then lets
// the code that users reach sum them up, compare them and decide, and counts how
// often the decision is wrong. No share of wrong decisions may exceed what is
// promised by more than a point.
//
// The last line is:
//
//	decisions cells N draws N worst NAME rate R allowed R
package decisions

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
)

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	draws := flags.Int("draws", 20000, "number of draws in each cell")
	only := flags.String("only", "", "part of the names of the cells to draw")
	seed := flags.Uint64("seed", 1, "seed of the random numbers")
	return func(ctx context.Context) error {
		debug.SetGCPercent(800) // what a draw needs is small, and is soon needed no more
		return prove(ctx, *draws, *only, *seed)
	}
}

// tolerance is how much more often than promised a decision may be wrong.
const tolerance = 0.01

// cell is one kind of data and one question about it.
type cell struct {
	name    string
	nominal float64 // how often the decision may be wrong
	// wrong draws runs, decides and reports whether the decision is wrong.
	wrong func(*rand.Rand) (bool, error)
}

// found is how often the decisions of a cell were wrong.
type found struct {
	cell
	rate, slack float64
}

func (f found) allowed() float64 { return f.nominal + tolerance + f.slack }

func prove(ctx context.Context, draws int, only string, seed uint64) error {
	var worst found
	var failed []error
	n := 0
	for i, c := range cells() {
		if !strings.Contains(c.name, only) {
			continue
		}
		wrong, err := c.draw(ctx, draws, seed+uint64(i)<<32)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		// What chance alone adds to a share that is just allowed, three times in
		// a thousand.
		limit := c.nominal + tolerance
		f := found{c, float64(wrong) / float64(draws), 2.75 * math.Sqrt(limit*(1-limit)/float64(draws))}
		verdict := "ok"
		if f.rate > f.allowed() {
			verdict = "TOO OFTEN"
			failed = append(failed, fmt.Errorf("%s: wrong in %.4f of the draws, at most %.4f is allowed", c.name, f.rate, f.allowed()))
		}
		fmt.Printf("%-58s nominal %.3f  wrong %.4f  %s\n", c.name, c.nominal, f.rate, verdict)
		if n++; n == 1 || f.rate-f.allowed() > worst.rate-worst.allowed() {
			worst = f
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	fmt.Printf("decisions cells %d draws %d worst %s rate %.4f allowed %.4f\n", n, draws, strings.ReplaceAll(worst.name, " ", "_"), worst.rate, worst.allowed())
	return nil
}

// draw counts wrong decisions, on all processors. The same seed gives the same
// number.
func (c cell) draw(ctx context.Context, draws int, seed uint64) (int64, error) {
	var wrong atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, runtime.GOMAXPROCS(0))
	for w := range errs {
		all.Go(func() {
			for i := w; i < draws && errs[w] == nil; i += len(errs) {
				if errs[w] = ctx.Err(); errs[w] != nil {
					return
				}
				var bad bool
				if bad, errs[w] = c.wrong(rand.New(rand.NewPCG(seed, uint64(i)))); bad {
					wrong.Add(1)
				}
			}
		})
	}
	all.Wait()
	return wrong.Load(), errors.Join(errs...)
}
