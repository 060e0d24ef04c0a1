// Command engines starts and stops the engines of one checkout.
//
//	engines -root CHECKOUT up [ENGINE…]      start what is not ready, and wait
//	engines -root CHECKOUT down [ENGINE…]    stop cleanly
//	engines -root CHECKOUT status            tell how each engine is
//	engines -root CHECKOUT restart ENGINE    down and up of one engine
//	engines -root CHECKOUT kill ENGINE       end one engine as a crash would
//	engines -root CHECKOUT env               print the env file
//
// ASSAY_DEV_STATE names another folder for the engines' state: a second set of
// engines beside the first, for example to kill them.
//
// The exit status is 0 when the command did what it says, 1 when it did not, 2
// when it was called wrongly, and 3 when `status` finds an engine not ready.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/assayhq/assay/dev/internal/engine"
)

const usage = "usage: dev/engines up|down|status|env [ENGINE…], restart|kill ENGINE"

func main() {
	root := flag.String("root", ".", "the checkout")
	state := flag.String("state", os.Getenv("ASSAY_DEV_STATE"), "the folder for the engines' state, .dev if empty")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, usage) }
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, *root, *state, flag.Args())
	cancel()
	os.Exit(code)
}

func run(ctx context.Context, root, state string, args []string) int {
	started := time.Now()
	c, err := engine.Open(root, state, func(name, text string) {
		fmt.Fprintf(os.Stderr, "%5.1f s  %-11s %s\n", time.Since(started).Seconds(), name, text)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
		return 1
	}
	var command string
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch {
	case command == "up":
		if err = c.Up(ctx, args...); err == nil {
			return table(ctx, c, args)
		}
	case command == "down":
		if err = c.Down(args...); err == nil {
			fmt.Printf("engines are down after %.1f s\n", time.Since(started).Seconds())
		}
	case command == "status" && len(args) == 0:
		return table(ctx, c, nil)
	case command == "restart" && len(args) == 1:
		if err = c.Down(args...); err == nil {
			err = c.Up(ctx, args...)
		}
	case command == "kill" && len(args) == 1:
		err = c.Kill(args[0])
	case command == "env" && len(args) == 0:
		var text string
		text, err = c.Env()
		fmt.Print(text)
	default:
		fmt.Fprintln(os.Stderr, usage)
		return 2
	}
	if err != nil {
		explain(c, err)
		return 1
	}
	return 0
}

// table prints how the engines are. Only those that were asked for decide the
// exit status.
func table(ctx context.Context, c *engine.Checkout, asked []string) int {
	states, err := c.Status(ctx)
	if err != nil {
		explain(c, err)
		return 1
	}
	code := 0
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(w, "ENGINE\tVERSION\tADDRESS\tSTATE\tLOG")
	for _, s := range states {
		log := s.Log
		if relative, err := filepath.Rel(c.Root, log); err == nil {
			log = relative
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Engine.Name, s.Version, s.Address, s.State, log)
		if s.State != "ready" && (len(asked) == 0 || contains(asked, s.Engine.Name)) {
			code = 3
		}
	}
	_ = w.Flush()
	for _, s := range states {
		if s.Err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.Engine.Name, s.Err)
		}
	}
	return code
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// explain says what went wrong, with the end of the engine's log and the way out.
func explain(c *engine.Checkout, err error) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, one := range joined.Unwrap() {
			explain(c, one)
		}
		return
	}
	fmt.Fprintln(os.Stderr, "engines:", err)
	var failure *engine.Failure
	if !errors.As(err, &failure) {
		return
	}
	fmt.Fprintf(os.Stderr, "the end of %s:\n", c.LogPath(failure.Engine.Name))
	for _, line := range c.LogTail(failure.Engine.Name, 20) {
		fmt.Fprintln(os.Stderr, "  |", line)
	}
	fmt.Fprintln(os.Stderr, "what to do:", failure.Engine.Hint)
}
