package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/terminal"
)

// waitFlags say how a run is waited for.
type waitFlags struct {
	Timeout           time.Duration `help:"Maximum wait (default: 6h). 0 means no limit." default:"6h" placeholder:"TIME"`
	CancelOnInterrupt bool          `help:"Cancel the run on Ctrl-C or SIGTERM, instead of leaving it in progress."`
}

func (f waitFlags) check() error {
	if f.Timeout < 0 {
		return errors.New("--timeout must not be negative: use a duration such as 30m")
	}
	return nil
}

// follow waits for a run and shows how it goes on. It also returns the newest
// notes of the run.
func (f waitFlags) follow(e *Environment, from *client.Client, evaluation client.Evaluation, r client.Run) (client.Run, []client.Note, error) {
	d := newDisplay(e, evaluation, r)
	ended, err := client.Wait{
		Client: from, Evaluation: evaluation.ID, Run: r.ID, Timeout: f.Timeout, Now: time.Now, Show: d.show, Say: d.say,
	}.Until(e.Context)
	switch {
	case err == nil:
		return ended, d.notes, nil
	case e.Context.Err() != nil:
		err = f.interrupted(e, from, evaluation, r)
	case errors.Is(err, client.ErrTimeout):
		err = fmt.Errorf("run %s did not end within %s and is still in progress: %s", r.ID, f.Timeout, again(evaluation, r))
	}
	return client.Run{}, nil, err
}

// interrupted leaves the run or cancels it, as the flag says.
func (f waitFlags) interrupted(e *Environment, from *client.Client, evaluation client.Evaluation, r client.Run) error {
	if !f.CancelOnInterrupt {
		return fmt.Errorf("interrupted; run %s is still in progress: %s", r.ID, again(evaluation, r))
	}
	// The signal has ended the context; the cancellation has a little time.
	ctx, stop := context.WithTimeout(context.WithoutCancel(e.Context), 10*time.Second)
	defer stop()
	_, err := from.CancelRun(ctx, evaluation.ID, r.ID)
	var refused *client.Error
	switch {
	case err == nil:
		return &ExitError{exitFailed, fmt.Errorf("interrupted; run %s is cancelled, results so far are kept: `assay results %s %s` shows them", r.ID, evaluation.ID, r.ID)}
	case errors.As(err, &refused) && refused.Fault.Reason == "invalid_transition":
		return fmt.Errorf("interrupted; run %s had already ended: `assay runs show %s %s` shows it", r.ID, evaluation.ID, r.ID)
	}
	return fmt.Errorf("interrupted; run %s could not be cancelled and is still in progress (%w): %s", r.ID, err, again(evaluation, r))
}

// again says how to look at a run that goes on, and how to end it.
func again(evaluation client.Evaluation, r client.Run) string {
	return fmt.Sprintf("`assay runs attach %s %s` follows it, `assay runs cancel %s %s` cancels it", evaluation.ID, r.ID, evaluation.ID, r.ID)
}

const (
	// A log gets a line this often, or when so much more is done.
	logEvery   = 10 * time.Second
	logPercent = 10.0
	// rateOver is the time that the rate is taken over.
	rateOver = 15 * time.Second
)

// display shows a run as it goes on: in place on a terminal, else in lines.
type display struct {
	e      *Environment
	name   string
	run    client.Run
	live   *terminal.Live // nil if lines cannot be drawn over
	notes  []client.Note
	looks  []look // of the last rateOver
	logged look   // what the last line said
	began  bool   // a line was written
	said   map[string]bool
}

// look is how much was done when.
type look struct {
	at      time.Time
	done    int
	percent float64
	phase   string
}

func newDisplay(e *Environment, evaluation client.Evaluation, r client.Run) *display {
	d := &display{e: e, name: evaluation.Name, run: r, said: map[string]bool{}}
	if terminal.Redraws(e.terminalOut(), e.Environ) {
		d.live = terminal.NewLive(e.ErrOut)
	}
	return d
}

// show draws a progress.
func (d *display) show(p client.Progress) {
	d.notes = p.Recent
	now := time.Now()
	l := look{now, int(p.ItemsDone), p.Percent, p.Phase}
	d.looks = append(d.looks, l)
	for len(d.looks) > 2 && now.Sub(d.looks[1].at) > rateOver {
		d.looks = d.looks[1:]
	}
	style := terminal.Detect(d.e.terminalOut(), d.e.Environ) // the window may have been resized
	shown := d.toProgress(p)
	if d.live != nil {
		d.live.Draw(style.Progress(shown))
		return
	}
	ended := p.Status != client.StatusRunning
	if !d.began || ended || now.Sub(d.logged.at) >= logEvery || p.Percent-d.logged.percent >= logPercent || l.phase != d.logged.phase && l.done == 0 {
		if !d.began {
			fmt.Fprintf(d.e.ErrOut, "%s\n", terminal.Text(fmt.Sprintf("Run %s of %q. %s", d.run.ID, d.name, terminal.Holds)))
		}
		fmt.Fprintln(d.e.ErrOut, style.ProgressLine(shown))
		d.logged, d.began = l, true
	}
	for _, n := range p.Recent {
		if key := n.At.String() + n.Message; n.Level != "info" && !d.said[key] {
			d.said[key] = true
			fmt.Fprintf(d.e.ErrOut, "%s: %s\n", terminal.Text(n.Level), terminal.Text(n.Message))
		}
	}
}

// say writes what happens beside the run.
func (d *display) say(text string) {
	if d.live == nil {
		d.e.say(text)
		return
	}
	d.live.Above("assay: " + text)
}

func (d *display) toProgress(p client.Progress) terminal.Progress {
	out := terminal.Progress{
		Name: d.name, Run: d.run.ID, Status: p.Status, Phase: p.Phase, Total: int(p.ItemsTotal), Done: int(p.ItemsDone), Passed: int(p.Passed),
		Failed: int(p.Failed), Errored: int(p.Errored), Rate: d.rate(p), Elapsed: d.elapsed(p), Cost: &p.CostUSD,
	}
	if p.EtaSeconds != nil && p.Status == client.StatusRunning {
		eta := time.Duration(*p.EtaSeconds * float64(time.Second))
		out.ETA = &eta
	}
	if p.Estimate != nil {
		e := shown.Estimate("pass_rate", *p.Estimate)
		e.Percent = true
		out.PassRate = &e
	}
	for _, n := range p.Recent { // the newest first
		if n.Level != "info" {
			out.Note = n.Message
			break
		}
	}
	return out
}

// elapsed is on the server's clock once the run has ended, else on ours since
// the first look, which no clock that is wrong can spoil.
func (d *display) elapsed(p client.Progress) time.Duration {
	if p.Status != client.StatusRunning || len(d.looks) == 0 {
		return max(0, p.UpdatedAt.Sub(p.StartedAt))
	}
	return max(0, p.UpdatedAt.Sub(p.StartedAt), d.looks[len(d.looks)-1].at.Sub(d.looks[0].at))
}

// rate is items a second lately, or since the start if there was one look.
func (d *display) rate(p client.Progress) float64 {
	first, last := d.looks[0], d.looks[len(d.looks)-1]
	if took := last.at.Sub(first.at).Seconds(); took > 0 && last.done > first.done {
		return float64(last.done-first.done) / took
	}
	if took := p.UpdatedAt.Sub(p.StartedAt).Seconds(); took > 0 && len(d.looks) == 1 {
		return float64(p.ItemsDone) / took
	}
	return 0
}

// say writes what is no result.
func (e *Environment) say(text string) { fmt.Fprintf(e.ErrOut, "assay: %s\n", terminal.Text(text)) }

// terminalOut is the writer whose terminal is asked for its size.
func (e *Environment) terminalOut() io.Writer {
	return unguarded(e.ErrOut)
}

// runner is where commands for GitHub's runner go, on a line of their own.
func (e *Environment) runner() io.Writer { return unguarded(e.Out) }

// unguarded is the writer behind a guard. Annotations are the only commands that
// are meant for the runner.
func unguarded(w io.Writer) io.Writer {
	if g, ok := w.(*guard); ok {
		return g.to
	}
	return w
}

// guarded is the same environment in a job of GitHub Actions, where a line that
// begins with two colons is a command to the runner: names and messages from
// elsewhere must not become commands.
func (e *Environment) guarded() *Environment {
	for _, kv := range e.Environ {
		if kv == "GITHUB_ACTIONS=true" {
			g := *e
			g.Out, g.ErrOut = &guard{to: e.Out}, &guard{to: e.ErrOut}
			return &g
		}
	}
	return e
}

// guard takes the commands of GitHub's runner out of what passes. A line passes
// when it is whole.
type guard struct {
	to   io.Writer
	rest string
}

// Write passes whole lines on.
func (g *guard) Write(text []byte) (int, error) {
	var b strings.Builder
	for line := range strings.Lines(g.rest + string(text)) {
		if !strings.HasSuffix(line, "\n") {
			g.rest = line
			_, err := io.WriteString(g.to, b.String())
			return len(text), err
		}
		if rest := strings.TrimLeft(line, " \t\r"); strings.HasPrefix(rest, "::") {
			line = line[:len(line)-len(rest)] + ": :" + rest[2:]
		}
		b.WriteString(strings.ReplaceAll(line, "##[", "## ["))
	}
	g.rest = ""
	_, err := io.WriteString(g.to, b.String())
	return len(text), err
}
