package people

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

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
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o}
	if s.System, err = rig.New(ctx, o.Binary, o.Seed); err != nil {
		return s, err
	}
	if err := s.Up(ctx, "postgres", "clickhouse", "temporal"); err != nil {
		return s, err
	}
	if err := s.Keyed("ASSAY_REDIS_URL=", "ASSAY_TRACE_GRPC_ADDR="); err != nil { // they take no part
		return s, err
	}
	orgs, err := s.Prepare(ctx)
	if err != nil {
		return s, err
	}
	if err := s.StartServer(ctx); err != nil {
		return s, err
	}
	return s, s.settleIn(ctx, orgs[0])
}

// settleIn brings the people into an organization, and connects the check to the tables.
func (s *system) settleIn(ctx context.Context, org rig.Organization) (err error) {
	s.org = org
	if s.operations, err = readOperations(); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	return s.hire(ctx)
}

// open connects the check to the tables.
func (s *system) open(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(s.Engine["ASSAY_POSTGRES_OWNER_URL"])
	if err != nil {
		return err
	}
	cfg.ConnConfig.RuntimeParams["app.org"] = s.org.ID
	if s.rows, err = pgxpool.NewWithConfig(ctx, cfg); err == nil {
		s.OnStop(func() error { s.rows.Close(); return nil })
	}
	return err
}

// hire makes the people.
func (s *system) hire(ctx context.Context) (err error) {
	if s.bystander, err = s.invite(ctx, 0, "annotator"); err != nil {
		return err
	}
	for n := range s.options.annotators {
		p, err := s.invite(ctx, 1+n, "annotator")
		if err != nil {
			return err
		}
		s.annotators = append(s.annotators, p)
	}
	for n := range s.options.adjudicators {
		p, err := s.invite(ctx, 1000+n, "admin")
		if err != nil {
			return err
		}
		s.adjudicators = append(s.adjudicators, p)
	}
	return nil
}

// invite makes a member who comes in.
func (s *system) invite(ctx context.Context, number int, role string) (p person, err error) {
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
	p.Organization, err = s.Enter(ctx, s.org, member.ID)
	return p, err
}
