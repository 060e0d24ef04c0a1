package policy

import (
	"context"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// pastChunk is how many facts are looked up at once.
const pastChunk = 2000

// past finds out what the questions of a page need to know about what came before them:
// what was looked up at the time, and otherwise what the actions that were allowed say. They
// count as they happened, not as the draft would have had it.
func (t *backtest) past(ctx context.Context, all []again) error {
	oldest := t.now().Add(-keepActions)
	var open []pastQuestion
	var of []*again // whose they are
	for i := range all {
		one := &all[i]
		if one.skipped != "" {
			continue
		}
		one.question.History = map[engine.Fact]engine.FactValue{}
		for _, f := range append(t.draft.Facts(one.question), t.today.Facts(one.question)...) {
			if v, ok := one.recalled.History[f.String()]; ok {
				one.question.History[f] = v.value()
				continue
			}
			at := one.record.CreatedAt
			if at.Add(-f.Window).Before(oldest) {
				one.skipped = skipExpired
				break
			}
			one.question.History[f] = engine.FactValue{Sum: "0"}
			open, of = append(open, pastQuestion{decision: one.record.ID, actor: short(actorOf(&one.question)), fact: f, since: at.Add(-f.Window), until: at}), append(of, one)
		}
	}
	for from := 0; from < len(open); from += pastChunk {
		some := open[from:min(from+pastChunk, len(open))]
		found, err := t.store.facts(ctx, t.db.Org(t.org), t.org, some)
		if err != nil {
			return err
		}
		for i, v := range found {
			of[from+i].question.History[some[i].fact] = v
		}
	}
	return nil
}
