package people

import (
	"context"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

type control = rig.Control[*system]

// controls are the guards between people and work that is done twice or seen early.
var controls = []control{
	{
		Noticed: after("DROP INDEX adjudication_decisions_current", decidedTwice),
		Guard: rig.Guard{
			Name: "decide_twice", In: "adjudication.store.updateTx",
			Text:    "	if n == 0 {\n		return ErrConflict\n",
			Instead: "	if n == 0 && !sabotage(\"decide_twice\") {\n		return ErrConflict\n",
		},
		More: []rig.Guard{
			{
				Name: "decide_twice", In: "adjudication/internal/db.lockItem",
				Text:    "const lockItem = `-- name: LockItem :one\n",
				Instead: "var lockItem = `-- name: LockItem :one\n",
			},
			{
				Name: "decide_twice", In: "adjudication/internal/db.lockItem",
				Text:    " FOR UPDATE\n`",
				Instead: "` + map[bool]string{false: \" FOR UPDATE\"}[sabotage(\"decide_twice\")]",
			},
		},
	},
	{
		Noticed: after("ALTER TABLE annotation_items DROP CONSTRAINT annotation_items_slots", givenTwice),
		Guard: rig.Guard{
			Name: "share_slot", In: "annotation/internal/db.take",
			Text:    "const take = `-- name: Take :one\n",
			Instead: "var take = `-- name: Take :one\n",
		},
		More: []rig.Guard{
			{
				Name: "share_slot", In: "annotation/internal/db.take",
				Text:    "  FOR UPDATE OF i\n",
				Instead: "` + map[bool]string{false: \"  FOR UPDATE OF i\\n\"}[sabotage(\"share_slot\")] + `",
			},
		},
	},
	{
		Noticed: shownEarly,
		Guard: rig.Guard{
			Name: "show_early", In: "annotation.Service.AddTx",
			Text:    "a.Open && !t.Blind\n",
			Instead: "a.Open && (!t.Blind || sabotage(\"show_early\"))\n",
		},
	},
}

// after removes what the tables forbid: behind the guard stands a constraint, which would
// show the removal as an error.
func after(statement string, noticed func(context.Context, *system) (int, error)) func(context.Context, *system) (int, error) {
	return func(ctx context.Context, s *system) (int, error) {
		if _, err := s.rows.Exec(ctx, statement); err != nil {
			return 0, err
		}
		return noticed(ctx, s)
	}
}

// controlItems is how many items a control has.
const controlItems = 20

// decidedTwice has everybody decide about the same items at the same time.
func decidedTwice(ctx context.Context, s *system) (int, error) {
	l, err := s.newTask(ctx, "decide", controlItems, 1)
	if err != nil {
		return 0, err
	}
	for range controlItems {
		got, err := l.take(ctx, s.annotators[0], walk)
		if err != nil {
			return 0, err
		}
		if err := l.answer(ctx, s.annotators[0], got.Item.ID); err != nil {
			return 0, err
		}
		if err := l.dispute(ctx, got.Item.ID); err != nil {
			return 0, err
		}
	}
	type row struct{ ID int64 }
	open, err := rows[row](ctx, l, "SELECT id FROM adjudication_items WHERE org_id = $1 AND status = 'open'")
	if err != nil {
		return 0, err
	}
	for _, r := range open {
		var g errgroup.Group
		for _, p := range s.adjudicators {
			g.Go(func() error { return l.settle(ctx, p, r.ID) })
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
	}
	var v verdict
	err = l.decidedOnce(ctx, &v)
	return v.decidedTwice, err
}

// givenTwice has everybody take an item at the same time.
func givenTwice(ctx context.Context, s *system) (int, error) {
	l, err := s.newTask(ctx, "take", controlItems, 1)
	if err != nil {
		return 0, err
	}
	var g errgroup.Group
	for _, p := range s.annotators {
		g.Go(func() error { _, err := l.take(ctx, p, walk); return err })
	}
	err = g.Wait()
	return l.found.givenTwice, err
}

// shownEarly has one of two people answer, and looks.
func shownEarly(ctx context.Context, s *system) (int, error) {
	l, err := s.newTask(ctx, "show", controlItems, perItem)
	if err != nil {
		return 0, err
	}
	for range controlItems {
		got, err := l.take(ctx, s.annotators[0], walk)
		if err != nil {
			return 0, err
		}
		if err := l.answer(ctx, s.annotators[0], got.Item.ID); err != nil {
			return 0, err
		}
	}
	for _, p := range l.readers() {
		if err := l.look(ctx, p, rand.New(rand.NewPCG(s.Seed, 1))); err != nil {
			return 0, err
		}
	}
	return l.found.leaks, nil
}
