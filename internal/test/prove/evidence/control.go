package evidence

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

type control = rig.Control[*system]

// controls are flaws of senders and of the proof itself, and the guards of the product.
var controls = []control{
	{Guard: rig.Guard{Name: "unsent"}, Noticed: unsent},
	{Guard: rig.Guard{Name: "cut_answer"}, Noticed: cutAnswer},
	{Guard: rig.Guard{Name: "new_id"}, Noticed: underFault(manners{twice: 1, anew: true}, "", func(v verdict) int { return v.doubled })},
	{
		Noticed: underFault(manners{twice: 1}, "", func(v verdict) int { return v.doubled }),
		Guard: rig.Guard{
			Name: "forget_event", In: "evidence.intake.claimEvents",
			Text: "	wanted, names := keysOf(events)\n",
			Instead: `	if sabotage("forget_event") {
		for i := range events {
			events[i].self.Key = record.Hashed(events[i].Event.ID, s.now().String())
		}
	}
	wanted, names := keysOf(events)
`,
		},
	},
	{
		Noticed: underFault(manners{}, "point", func(v verdict) int { return v.doubled }),
		Guard: rig.Guard{
			Name: "count_again", In: "evidence.intake.storeSaid",
			Text:    "			if r.draft.Kind.Class != kind.Stream && r.Once == (key{}) {\n",
			Instead: "			if r.draft.Kind.Class != kind.Stream && r.Once == (key{}) && !sabotage(\"count_again\") {\n",
		},
	},
	{
		Noticed: underFault(manners{}, "point", func(v verdict) int { return v.lost }),
		Guard: rig.Guard{
			Name: "event_first", In: "evidence.intake.storeEvents",
			Text: "	missing, err := s.storeSaid(ctx, org, events, held.claims)\n",
			Instead: `	if sabotage("event_first") {
		for _, e := range events {
			r := s.newRecord(ctx, e.self, held.claims[e.self.Key].ID)
			r.Values["records"] = []byte("[]")
			if err := s.store.stream.Append(ctx, org, []*Record{&r}, uint16(s.cfg.RetentionDays)); err != nil {
				return err
			}
		}
		failpoint.Hit(BeforeEvents)
	}
	missing, err := s.storeSaid(ctx, org, events, held.claims)
`,
		},
	},
	{
		Noticed: underFault(manners{}, "", func(v verdict) int { return v.unmerged }),
		Guard: rig.Guard{
			Name: "overwrite", In: "statedb.DB.HoldTx",
			Text:    "	if n > 0 {\n",
			Instead: "	if n > 0 && !sabotage(\"overwrite\") {\n",
		},
	},
	{
		Noticed: underFault(manners{}, "point", func(v verdict) int { return v.doubled }),
		Guard: rig.Guard{
			Name: "nameless", In: "evidence.intake.linkEvents",
			Text:    "		if r.Alone {\n",
			Instead: "		if r.Alone && !sabotage(\"nameless\") {\n",
		},
	},
	{
		Noticed: readReplaced,
		Guard: rig.Guard{
			Name: "replaced", In: "evidence.things.mergeReport",
			Text:    "	if !news {\n",
			Instead: "	if !news && !sabotage(\"replaced\") {\n",
		},
	},
}

// unsent adds an event to the ledger that was not sent.
func unsent(_ context.Context, s *system) (int, error) {
	l, found := s.sound, s.found
	before := l.verdict(found).lost
	p := place{batch: l.last}
	for p.shape() != unmapped {
		p.number++
	}
	l.entries[p] = &entry{}
	defer delete(l.entries, p)
	return l.verdict(found).lost - before, nil
}

// cutAnswer takes a result out of an answer.
func cutAnswer(_ context.Context, s *system) (int, error) {
	var a answer
	if err := json.Unmarshal(s.sound.answer, &a); err != nil {
		return 0, err
	}
	if n := a.missing(s.sound.items); n > 0 {
		return 0, fmt.Errorf("the whole answer lacks %d results", n)
	}
	a.Results = a.Results[:len(a.Results)-1]
	return a.missing(s.sound.items), nil
}

// controlEvents is how many events a control sends at a time.
const controlEvents = 20 * batchEvents

// chances is how often a control sends events until it is noticed: most flaws show only
// if two requests meet.
const chances = 8

// underFault sends events, with a fault if one is named, until something is found.
func underFault(m manners, only string, counted func(verdict) int) func(context.Context, *system) (int, error) {
	m.orgs, m.senders = 1, 2
	return func(ctx context.Context, s *system) (n int, err error) {
		for range chances {
			v, err := s.sendSome(ctx, m, only)
			if err != nil {
				return 0, err
			}
			if n = counted(v); n > 0 {
				break
			}
		}
		return n, nil
	}
}

// sendSome sends some events as a new organization and looks at what is stored of them.
func (s *system) sendSome(ctx context.Context, m manners, only string) (verdict, error) {
	l, err := s.newLoad(ctx, m)
	if err != nil {
		return verdict{}, err
	}
	l.begin(ctx)
	defer l.stop()
	if only != "" {
		if _, err := s.faults(ctx, l, 1, only); err != nil {
			return verdict{}, err
		}
	}
	if err := l.grow(ctx, controlEvents); err != nil {
		return verdict{}, err
	}
	if err := l.finish(); err != nil {
		return verdict{}, err
	}
	found, err := l.read(ctx)
	if err != nil {
		return verdict{}, err
	}
	return l.verdict(found), nil
}

// readReplaced has the events of a few batches read again.
func readReplaced(ctx context.Context, s *system) (int, error) {
	l, err := s.newLoad(ctx, manners{orgs: 1, senders: 2})
	if err != nil {
		return 0, err
	}
	l.begin(ctx)
	defer l.stop()
	if err := l.grow(ctx, batchEvents); err != nil {
		return 0, err
	}
	if err := l.finish(); err != nil {
		return 0, err
	}
	before, err := l.read(ctx)
	if err != nil {
		return 0, err
	}
	a, err := l.readAgain(ctx, before, false)
	return a.changed, err
}
