package policy

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// held is a key with everybody who has seen it, except for the operator, who has seen
// the first key and with it all others.
type held struct {
	rig              rig.Organization
	id               int64
	people, machines []string
	// asks are the machines that act through it, rather than the people whom they serve.
	asks []string
}

// mint makes keys and keeps book of who sees them. After an error it makes none.
type mint struct {
	*system
	err error
}

// machine makes a service key and gives it to a machine.
func (m *mint) machine(ctx context.Context, with held, name string) held {
	return m.make(ctx, with, held{people: with.people, machines: append(slices.Clone(with.machines), name), asks: append(slices.Clone(with.asks), name)}, "/api/developer/api-keys", m.body(name, false))
}

// person makes a personal key and gives it to its owner.
func (m *mint) person(ctx context.Context, with held, name, owner string, opts ...api.Option) held {
	return m.make(ctx, with, held{people: append(slices.Clone(with.people), owner), machines: with.machines}, "/api/developer/api-keys", m.body(name, true), opts...)
}

// rotate replaces a key and gives the new one to those who held the old one.
func (m *mint) rotate(ctx context.Context, with, old held) held {
	to := held{people: append(slices.Clone(with.people), old.people...), machines: append(slices.Clone(with.machines), old.machines...), asks: append(slices.Clone(with.asks), old.asks...)}
	return m.make(ctx, with, to, fmt.Sprintf("/api/developer/api-keys/%d/rotate", old.id), map[string]any{"graceSeconds": 3600})
}

func (m *mint) body(name string, personal bool) map[string]any {
	return map[string]any{"name": name + " " + m.Removed, "personal": personal, "scopes": scopes}
}

func (m *mint) make(ctx context.Context, with, to held, path string, body map[string]any, opts ...api.Option) held {
	if m.err != nil {
		return held{}
	}
	var made struct {
		ID  int64  `json:"id"`
		Key string `json:"key"`
	}
	// Without an Idempotency-Key: what is repeated under one does not show the key.
	m.err = m.Insist(ctx, with.rig, http.MethodPost, path, "", body, &made, opts...)
	to.rig, to.id = rig.Organization{ID: with.rig.ID, Key: made.Key}, made.ID
	return to
}
