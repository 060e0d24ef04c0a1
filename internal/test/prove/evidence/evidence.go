// Package evidence proves that events of agents which were acknowledged are kept, and
// that each has its effect once.
//
// It starts engines and a server of its own. Senders of two organizations post envelopes
// of events without pause: native calls of tools, failures and policy decisions, spans of
// OpenTelemetry, events that no normalizer understands, events that are not valid, and
// messages of MCP, of which one sender has the request and another one the result. They
// repeat what they got no answer to, and now and then what they got one to, later or at
// the same time; they carry an event twice in one envelope, and again in the next one.
// Meanwhile the server, PostgreSQL and ClickHouse are killed, and the server dies between
// what events say and the events themselves.
//
// Every answer must have one result for each event, in order. In the end every event must
// be there once with what was sent, and so must every record that an answer named. Each
// kind must have as many records as were reported, however often. A failure must have
// occurred as often as there are events that report it. The request and the result of a
// call must be one record with both. Then all events are read again while the worker and
// the engines are killed, and everything must be as it was.
//
// Controls are a ledger with an event that was not sent, an answer that lacks a result, a
// sender that names events anew when it repeats them, and builds of which one guard is
// removed: a control that is not noticed fails the proof.
//
// The last line is:
//
//	evidence events N faults N lost 0 doubled 0 missing_results 0 unmerged 0 read_again N changed 0 controls 9/9
package evidence

import (
	"context"
	"flag"
	"fmt"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// options are what a shortened proof changes.
type options struct {
	rig.Options
	events, senders int
}

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o options
	o.Flags(flags, 60)
	flags.IntVar(&o.events, "events", 100_000, "least number of acknowledged events")
	flags.IntVar(&o.senders, "senders", 4, "number of concurrent senders of each organization, at least 2")
	return func(ctx context.Context) error {
		if o.senders < 2 {
			return fmt.Errorf("senders is %d: a request and its result need two", o.senders)
		}
		return rig.Proof[*system]{
			Name: "evidence", Options: &o.Options, Controls: controls, Run: run,
			Start: func(ctx context.Context) (*system, error) { return start(ctx, o) },
		}.Prove(ctx)
	}
}

// run does the faults under load, and then the check.
func run(ctx context.Context, s *system) (rig.Result, error) {
	l, err := s.newLoad(ctx, manners{orgs: 2, senders: s.senders, twice: 8, together: 16, impatient: 4, look: 10})
	if err != nil {
		return nil, err
	}
	l.begin(ctx)
	faults, err := s.faults(ctx, l, s.Faults, s.Only)
	if err == nil {
		err = l.grow(ctx, s.events)
	}
	if err != nil {
		l.stop()
		return nil, err
	}
	if err := l.finish(); err != nil {
		return nil, err
	}
	found, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	v := l.verdict(found)
	rig.Say("%s", v)
	if err := v.guilty(); err != nil {
		return nil, err
	}
	a, err := l.readAgain(ctx, found, true)
	if err != nil {
		return nil, err
	}
	rig.Say("read again: events %d faults %d changed %d", a.read, a.faults, a.changed)
	if a.changed > 0 || a.read == 0 {
		return nil, fmt.Errorf("%d events were read again, and %d records or events are not what they were", a.read, a.changed)
	}
	s.sound, s.found = l, found
	return rig.Result{"evidence"}.With("events", v.events).With("faults", faults+a.faults).With("lost", v.lost).With("doubled", v.doubled).
		With("missing_results", v.missing).With("unmerged", v.unmerged).With("read_again", int(a.read)).With("changed", a.changed), nil
}
