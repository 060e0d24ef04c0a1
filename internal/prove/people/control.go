package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/prove/rig"
)

// control is a guard that is removed.
type control struct {
	name  string
	parts []rig.Guard
	// also are statements that remove what the tables forbid: behind the guard stands a
	// constraint, which would show the removal as an error.
	also string
	// noticed counts what the proof finds without the guard.
	noticed func(context.Context, *system) (int, error)
}

// controls are the guards between people and work that is done twice or seen early.
var controls = []control{
	{
		name: "decide_twice", also: "DROP INDEX adjudication_decisions_current", noticed: decidedTwice,
		parts: []rig.Guard{
			{
				Name: "decide_twice", File: "internal/adjudication/store.go",
				Text:    "	if n == 0 {\n		return ErrConflict\n",
				Instead: "	if n == 0 && !sabotage(\"decide_twice\") {\n		return ErrConflict\n",
			},
			{
				Name: "decide_twice", File: "internal/adjudication/internal/db/store.sql.go",
				Text:    "const lockItem = `-- name: LockItem :one\n",
				Instead: "var lockItem = `-- name: LockItem :one\n",
			},
			{
				Name: "decide_twice", File: "internal/adjudication/internal/db/store.sql.go",
				Text:    " FOR UPDATE\n`\n",
				Instead: "` + map[bool]string{false: \" FOR UPDATE\"}[sabotage(\"decide_twice\")]\n",
			},
		},
	},
	{
		name: "share_slot", also: "ALTER TABLE annotation_items DROP CONSTRAINT annotation_items_slots", noticed: givenTwice,
		parts: []rig.Guard{
			{
				Name: "share_slot", File: "internal/annotation/internal/db/store.sql.go",
				Text:    "const take = `-- name: Take :one\n",
				Instead: "var take = `-- name: Take :one\n",
			},
			{
				Name: "share_slot", File: "internal/annotation/internal/db/store.sql.go",
				Text:    "  FOR UPDATE OF i\n",
				Instead: "` + map[bool]string{false: \"  FOR UPDATE OF i\\n\"}[sabotage(\"share_slot\")] + `",
			},
		},
	},
	{
		name: "show_early", noticed: shownEarly,
		parts: []rig.Guard{{
			Name: "show_early", File: "internal/annotation/annotation.go",
			Text:    "a.Open && !t.Blind\n",
			Instead: "a.Open && (!t.Blind || sabotage(\"show_early\"))\n",
		}},
	},
}

// guards are those of all controls.
func guards() (all []rig.Guard) {
	for _, c := range controls {
		all = append(all, c.parts...)
	}
	return all
}

// control runs controls. Each must be noticed.
func (s *system) control(ctx context.Context, unguarded *rig.Unguarded, chosen []control) (err error) {
	if len(chosen) == 0 {
		return nil
	}
	if s.Binary, err = unguarded.Binary(); err != nil {
		return err
	}
	for _, c := range chosen {
		s.server.Kill()
		s.Removed = c.name
		if c.also != "" {
			if _, err := s.rows.Exec(ctx, c.also); err != nil {
				return fmt.Errorf("control %s: %w", c.name, err)
			}
		}
		if err := s.startServer(ctx); err != nil {
			return err
		}
		n, err := c.noticed(ctx, s)
		if err != nil {
			return fmt.Errorf("control %s: %w", c.name, err)
		}
		say("control %-12s noticed %d", c.name, n)
		if n == 0 {
			return fmt.Errorf("control %s: %w", c.name, rig.ErrUnnoticed)
		}
	}
	return nil
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
