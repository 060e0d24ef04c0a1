package events

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// ceiling is the ratio at which events would have cost something: a short run
// fails if its whole interval is above, a whole one if its median is.
const ceiling = 1.10

// calls are how many are timed together.
const calls = 100

// side is a database with a log of changes.
type side struct {
	pg         *postgres.DB
	log        *change.Log
	dispatcher *change.Dispatcher
	org        principal.OrgID
}

// proveNoCost times the dispatcher and a write with and without events.
func proveNoCost(ctx context.Context, s *rig.System, o options) (string, error) {
	empty, err := newSide(ctx, s, "events_none", 0)
	if err != nil {
		return "", err
	}
	defer empty.pg.Close()
	began := time.Now()
	full, err := newSide(ctx, s, "events_many", o.events)
	if err != nil {
		return "", err
	}
	defer full.pg.Close()
	fmt.Printf("wrote %d events in %.0f s\n", o.events, time.Since(began).Seconds())

	// The slow follower reads meanwhile.
	following, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	handled := 0
	slow := full.log.NewFeed(change.Config{Keep: 1e6 * time.Hour}, change.Follower{Name: "slow", FromBeginning: true, Handle: func(ctx context.Context, events []change.Event) error {
		handled += len(events)
		return rig.Sleep(ctx, time.Second)
	}})
	go func() { ended <- slow.Run(following) }()
	defer stop()

	dispatch, err := compare(ctx, o.rounds, (*side).dispatch, empty, full)
	if err != nil {
		return "", err
	}
	write, err := compare(ctx, o.rounds, (*side).write, empty, full)
	if err != nil {
		return "", err
	}
	stop()
	if err := <-ended; err != nil {
		return "", err
	}
	if handled == 0 || handled >= o.events {
		return "", fmt.Errorf("the slow follower has read %d of %d events: it is not behind, or does not read", handled, o.events)
	}
	fmt.Printf("time of the dispatcher's query with %d events ÷ with none: %v\n", o.events, dispatch)
	fmt.Printf("time of a write and its audit entry with %d events ÷ with none: %v\n", o.events, write)
	return fmt.Sprintf("events_dispatch ratio %.3f\nevents_write ratio %.3f", dispatch.Median, write.Median),
		errors.Join(dispatch.AtMost(ceiling), write.AtMost(ceiling))
}

// compare times one thing on both sides in alternation. Engines flush and
// checkpoint for seconds at a time, and rounds next to each other share that: a
// ratio that looks too high is measured for longer before it is believed.
func compare(ctx context.Context, rounds int, do func(*side, context.Context) error, empty, full *side) (bench.Ratio, error) {
	timed := func(s *side) bench.Side {
		return func() (float64, error) {
			began := time.Now()
			for range calls {
				if err := do(s, ctx); err != nil {
					return 0, err
				}
			}
			return time.Since(began).Seconds(), nil
		}
	}
	low := func(r bench.Rounds) bool { return r.Ratio(0, 1).High <= ceiling }
	all, err := bench.Run(rounds, 6*rounds, low, timed(full), timed(empty))
	if err != nil {
		return bench.Ratio{}, err
	}
	return all.Ratio(0, 1), nil
}

func (s *side) dispatch(ctx context.Context) error {
	_, err := s.dispatcher.Once(ctx)
	return err
}

func (s *side) write(ctx context.Context) error {
	return postgres.InTx(ctx, s.pg, s.org, func(tx postgres.Tx) error {
		return s.log.AuditTx(ctx, tx, change.Entry{Event: thingCreated, ID: "1"})
	})
}

// newSide makes a database with events of a thousand organizations.
func newSide(ctx context.Context, s *rig.System, name string, events int) (*side, error) {
	cfg, err := newDatabase(ctx, s, name)
	if err != nil {
		return nil, err
	}
	pg, err := postgres.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	out := &side{pg: pg, log: change.New(pg, time.Now), org: principal.NewOrgID()}
	out.dispatcher = out.log.NewDispatcher(nil, map[string]change.Handler{"topic": func(context.Context, change.Message) error { return nil }})
	if err := out.log.NewFeed(change.Config{Keep: 1e6 * time.Hour}).Maintain(ctx); err != nil {
		return nil, err
	}
	return out, fill(ctx, cfg, events)
}

// newDatabase makes a database with all tables.
func newDatabase(ctx context.Context, s *rig.System, name string) (postgres.Config, error) {
	cfg := config(s, 4)
	admin, err := pgx.Connect(ctx, cfg.OwnerURL.Reveal())
	if err != nil {
		return cfg, err
	}
	_, err = admin.Exec(ctx, "CREATE DATABASE "+name)
	if err := errors.Join(err, admin.Close(ctx)); err != nil {
		return cfg, err
	}
	cfg.URL, cfg.OwnerURL = at(cfg.URL, name), at(cfg.OwnerURL, name)
	_, err = postgres.Migrate(ctx, cfg, db.Postgres())
	return cfg, err
}

// fill adds events to the week of now, a million a statement. Row security does
// not bind the owner on a partition.
func fill(ctx context.Context, cfg postgres.Config, events int) error {
	owner, err := pgx.Connect(ctx, cfg.OwnerURL.Reveal())
	if err != nil {
		return err
	}
	defer func() { _ = owner.Close(ctx) }()
	var week string
	if err := owner.QueryRow(ctx, "SELECT 'events_' || to_char(date_trunc('week', now(), 'UTC') AT TIME ZONE 'UTC', 'YYYYMMDD')").Scan(&week); err != nil {
		return err
	}
	for done := 0; done < events; done += 1_000_000 {
		_, err := owner.Exec(ctx, `
			INSERT INTO `+week+` (org_id, at, type, resource, resource_id, payload)
			SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n % 1000), 12, '0'))::uuid, now(), 'thing.created', 'thing', n::text,
			       '{"request_id":"01a1e0fc-33c9-780c-8ba1-17a68c7f4e01","api_key_id":1,"after_digest":"sha256:03a6b52d5db1e7b8b45fcdf7b5e0a5f5b1a1a94e0b8d5c4d7ac5a3a5e9b1c0f3"}'
			FROM generate_series(1, $1::bigint) AS n`, min(1_000_000, events-done))
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	_, err = owner.Exec(ctx, "VACUUM ANALYZE")
	return err
}

// at is the address of another database of the same server.
func at(address secret.Text, name string) secret.Text {
	u, err := url.Parse(address.Reveal())
	if err != nil {
		return address
	}
	u.Path = "/" + name
	return secret.Text(u.String())
}
