package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/prove/rig"
)

// engineNames are those that take part.
var engineNames = []string{"postgres", "clickhouse", "temporal"}

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

// replica is one of the servers.
type replica struct {
	*rig.System
	server *rig.Process
}

// system is one set of engines with three servers on it.
type system struct {
	*rig.System
	options
	replicas []*replica
	tenants  []tenant
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o}
	if s.System, err = rig.New(ctx, o.Binary); err != nil {
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
	if err := s.serve(ctx); err != nil {
		return s, err
	}
	for _, o := range orgs {
		t, err := s.settle(ctx, o)
		if err != nil {
			return s, err
		}
		s.tenants = append(s.tenants, t)
	}
	return s, nil
}

// serve starts the servers. The first has the system's own address.
func (s *system) serve(ctx context.Context) error {
	s.replicas = nil
	for range replicas {
		address, err := rig.FreeAddress()
		if err != nil {
			return err
		}
		r := &replica{System: &rig.System{
			State: s.State, Engine: s.Engine, Binary: s.Binary, Removed: s.Removed, URL: "http://" + address,
			Env: append(s.Env[:len(s.Env):len(s.Env)], "ASSAY_HTTP_ADDR="+address),
		}}
		s.replicas = append(s.replicas, r)
		if err := r.start(ctx); err != nil {
			return err
		}
	}
	s.URL = s.replicas[0].URL
	return nil
}

func (r *replica) start(ctx context.Context) (err error) {
	r.server, err = r.Serve(ctx, "server", rig.Patience)
	return err
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

// invite makes a member with a personal key.
func (s *system) invite(ctx context.Context, o rig.Organization, name, role string) (p person, err error) {
	p.email = name + "@example.com"
	var member struct {
		ID string `json:"id"`
	}
	if err := s.Post(ctx, o, "/api/organizations/current/members", "member "+name, map[string]any{"email": p.email, "role": role}, &member); err != nil {
		return p, err
	}
	p.id = member.ID
	p.Organization, err = s.PersonalKey(ctx, o, "of "+name, member.ID, scopes...)
	return p, err
}

// Logs returns the end of the log as an error.
func (s *system) Logs() error { return s.Tail("the log of serve", "serve") }

// Stop ends everything and removes what was written, unless it is to be kept.
func (s *system) Stop(keep bool) error {
	for _, r := range s.replicas {
		if r.server != nil {
			r.server.Kill()
		}
	}
	err := s.Down()
	if keep {
		return errors.Join(err, fmt.Errorf("the state is kept in %s", s.State))
	}
	return errors.Join(err, s.Remove())
}
