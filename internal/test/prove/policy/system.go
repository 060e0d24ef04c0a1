package policy

import (
	"context"
	"fmt"
	"net/http"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// scopes are those of every key.
var scopes = []string{"admin:org", "traces:read", "traces:write"}

// replicas is how many servers there are.
const replicas = 3

// person is a member with a key of their own.
type person struct {
	rig.Organization
	id, email string
}

// tenant is an organization with two people who may approve.
type tenant struct {
	rig.Organization
	ann, bob person
}

// system is one set of engines with some servers on it.
type system struct {
	*rig.System
	options
	replicas []*rig.System // one for each server
	tenants  []tenant
	// turn is how often the drill has begun anew, and quiet that nothing is said of it.
	turn  int
	quiet bool
}

// tag makes the names of things unique among builds and turns.
func (s *system) tag() string { return fmt.Sprint(s.Removed, s.turn) }

func (s *system) say(format string, args ...any) {
	if !s.quiet {
		rig.Say(format, args...)
	}
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
	if err := s.Restart(ctx); err != nil {
		return s, err
	}
	return s, s.settleIn(ctx, orgs)
}

// settleIn gives organizations what agents need.
func (s *system) settleIn(ctx context.Context, orgs []rig.Organization) error {
	for _, o := range orgs {
		t, err := s.settle(ctx, o)
		if err != nil {
			return err
		}
		s.tenants = append(s.tenants, t)
	}
	return nil
}

// Restart starts all servers. The first has the system's own address.
func (s *system) Restart(ctx context.Context) error {
	s.end()
	s.replicas = nil
	for range replicas {
		r, err := s.Replica()
		if err != nil {
			return err
		}
		s.replicas = append(s.replicas, r)
		if err := r.StartServer(ctx); err != nil {
			return err
		}
	}
	s.URL = s.replicas[0].URL
	return nil
}

func (s *system) end() {
	for _, r := range s.replicas {
		r.Halt()
	}
}

// settle gives an organization its people, a key for its agent and a connector for payments.
func (s *system) settle(ctx context.Context, o rig.Organization) (t tenant, err error) {
	if t.Organization, err = s.NewKey(ctx, o, map[string]any{"name": "agent", "scopes": scopes}); err != nil {
		return t, err
	}
	if t.ann, err = s.invite(ctx, o, "ann", "admin"); err != nil {
		return t, err
	}
	if t.bob, err = s.invite(ctx, o, "bob", "admin"); err != nil {
		return t, err
	}
	var made struct {
		ID int64 `json:"id"`
	}
	if err := s.Post(ctx, t.ann.Organization, "/api/agent-evidence/connectors", "connector", map[string]any{"connectorKey": "payments", "type": "mcp_server"}, &made); err != nil {
		return t, err
	}
	at := fmt.Sprintf("/api/agent-evidence/connectors/%d", made.ID)
	tools := []any{
		map[string]any{"name": "refund", "side_effect_class": "transact", "reversibility": "compensable"},
		map[string]any{"name": "look_up", "side_effect_class": "read", "reversibility": "reversible"},
	}
	if err := s.Insist(ctx, t.ann.Organization, http.MethodPatch, at, "review", map[string]any{"state": "under_review", "trustLevel": "reviewed", "tools": tools}, nil); err != nil {
		return t, err
	}
	return t, s.Insist(ctx, t.ann.Organization, http.MethodPatch, at, "approve", map[string]any{"state": "approved", "override": map[string]any{"justification": "a proof"}}, nil)
}

// invite makes a member who comes in.
func (s *system) invite(ctx context.Context, o rig.Organization, name, role string) (p person, err error) {
	p.email = name + "@example.com"
	var member struct {
		ID string `json:"id"`
	}
	if err := s.Post(ctx, o, "/api/organizations/current/members", "member "+name, map[string]any{"email": p.email, "role": role}, &member); err != nil {
		return p, err
	}
	p.id = member.ID
	p.Organization, err = s.Enter(ctx, o, member.ID)
	return p, err
}

// Stop ends everything and removes what was written, unless it is to be kept.
func (s *system) Stop(keep bool) error {
	s.end()
	return s.System.Stop(keep)
}
