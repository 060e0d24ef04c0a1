package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/prove/rig"
)

// engineNames are those that take part.
var engineNames = []string{"postgres", "clickhouse", "temporal"}

// person is a member with a key of their own.
type person struct {
	rig.Organization
	number int
	member string
}

// system is one set of engines with a server on it, and the people who use it.
type system struct {
	*rig.System
	options
	org          rig.Organization
	annotators   []person
	adjudicators []person
	bystander    person        // an annotator who only reads
	rows         *pgxpool.Pool // as the owner of the tables, under the claim of the organization
	operations   []operation
	server       *rig.Process
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o}
	if s.System, err = rig.New(ctx, o.Binary); err != nil {
		return s, err
	}
	if s.operations, err = readOperations(); err != nil {
		return s, err
	}
	if err := s.Up(ctx, engineNames...); err != nil {
		return s, err
	}
	master, err := secret.NewMasterKey()
	if err != nil {
		return s, err
	}
	s.Env = append(s.Env, "ASSAY_REDIS_URL=", "ASSAY_TRACE_GRPC_ADDR=", "ASSAY_SECRET_MASTER_KEY="+master.Reveal())
	orgs, err := s.Prepare(ctx)
	if err != nil {
		return s, err
	}
	s.org = orgs[0]
	if err := errors.Join(s.open(ctx), s.startServer(ctx)); err != nil {
		return s, err
	}
	return s, s.hire(ctx)
}

// open connects the check to the tables.
func (s *system) open(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(s.Engine["ASSAY_POSTGRES_OWNER_URL"])
	if err != nil {
		return err
	}
	cfg.ConnConfig.RuntimeParams["app.org"] = s.org.ID
	s.rows, err = pgxpool.NewWithConfig(ctx, cfg)
	return err
}

// hire makes the people.
func (s *system) hire(ctx context.Context) (err error) {
	if s.bystander, err = s.invite(ctx, 0, "annotator", "eval:read", "eval:write"); err != nil {
		return err
	}
	for n := range s.options.annotators {
		p, err := s.invite(ctx, 1+n, "annotator", "eval:read", "eval:write")
		if err != nil {
			return err
		}
		s.annotators = append(s.annotators, p)
	}
	for n := range s.options.adjudicators {
		p, err := s.invite(ctx, 1000+n, "admin", "admin:org", "eval:read")
		if err != nil {
			return err
		}
		s.adjudicators = append(s.adjudicators, p)
	}
	return nil
}

// invite makes a member with a personal key.
func (s *system) invite(ctx context.Context, number int, role string, scopes ...string) (p person, err error) {
	p.number = number
	var member struct {
		ID string `json:"id"`
	}
	if err := s.Post(ctx, s.org, "/api/organizations/current/members", fmt.Sprint("member ", number), map[string]any{
		"email": fmt.Sprintf("person-%d@example.com", number), "role": role,
	}, &member); err != nil {
		return p, err
	}
	p.member = member.ID
	p.Organization, err = s.PersonalKey(ctx, s.org, "of "+member.ID, member.ID, scopes...)
	return p, err
}

// startServer starts the API and waits until it listens.
func (s *system) startServer(ctx context.Context) (err error) {
	s.server, err = s.Serve(ctx, "server", rig.Patience)
	return err
}

// Logs returns the end of the log as an error.
func (s *system) Logs() error { return s.Tail("the log of serve", "serve") }

// Stop ends everything and removes what was written, unless it is to be kept.
func (s *system) Stop(keep bool) error {
	if s.server != nil {
		s.server.Kill()
	}
	if s.rows != nil {
		s.rows.Close()
	}
	err := s.Down()
	if keep {
		return errors.Join(err, fmt.Errorf("the state is kept in %s", s.State))
	}
	return errors.Join(err, s.Remove())
}
