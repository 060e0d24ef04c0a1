package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/command/client/api"
)

// Patience is how long anything may take that has to happen.
const Patience = 4 * time.Minute

// Refusal is an answer that no repetition changes.
type Refusal struct {
	Status int
	Text   string
}

func (r *Refusal) Error() string { return fmt.Sprintf("status %d: %s", r.Status, r.Text) }

// IsConflict tells whether the state of things forbids what was asked.
func IsConflict(err error) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Status == http.StatusConflict
}

// Post changes something once, however often the answer is lost on its way.
func (s *System) Post(ctx context.Context, o Organization, path, key string, in, out any) error {
	return s.Insist(ctx, o, http.MethodPost, path, key, in, out)
}

// As is the generated client of an organization. It repeats a request until it
// is answered; a key makes a write safe to repeat.
func (s *System) As(o Organization, key string) api.Client {
	return api.Client{Send: func(ctx context.Context, method, path string, in, out any, _ []api.Option) error {
		return s.Insist(ctx, o, method, path, key, in, out)
	}}
}

// Insist repeats a request until it is answered: servers and engines come back.
func (s *System) Insist(ctx context.Context, o Organization, method, path, key string, in, out any, opts ...api.Option) error {
	var before error // of the attempt before, which may have had its effect
	for limit := time.Now().Add(Patience); ; {
		err := s.Once(ctx, o, method, path, key, in, out, opts...)
		var no *Refusal
		switch {
		case err == nil:
			return nil
		case errors.As(err, &no) && no.Status < 500 && no.Status != http.StatusTooManyRequests && !bytes.Contains([]byte(no.Text), []byte("idempotency_in_progress")),
			time.Now().After(limit):
			if before != nil {
				return fmt.Errorf("%s %s: %w (the attempt before: %w)", method, path, err, before)
			}
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		before = err
		if err := Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// UntilUp repeats a question to an engine that may be away, or only just back.
func UntilUp(ctx context.Context, ask func() error) error {
	for limit := time.Now().Add(Patience); ; {
		err := ask()
		if err == nil || time.Now().After(limit) {
			return err
		}
		if e := Sleep(ctx, 200*time.Millisecond); e != nil {
			return errors.Join(err, e)
		}
	}
}

// Once makes a request without repeating it. An answer that refuses it is a Refusal.
func (s *System) Once(ctx context.Context, o Organization, method, path, key string, in, out any, opts ...api.Option) error {
	status, answer, err := s.Call(ctx, o, method, path, key, in, opts...)
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		return &Refusal{status, string(answer[:min(len(answer), 600)])}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// OnBehalfOf says for which member a key acts.
func OnBehalfOf(member string) api.Option {
	return func(r *http.Request) { r.Header.Set("X-On-Behalf-Of", member) }
}

// Enter lets a member in, who accepts an invitation of the operator's, and returns the key that
// they get: a person's.
func (s *System) Enter(ctx context.Context, o Organization, member string) (Organization, error) {
	out, err := s.Assay(ctx, "admin", "invite", o.ID, member).Output()
	if err != nil {
		return Organization{}, fmt.Errorf("invite: %w", err)
	}
	_, link, _ := strings.Cut(strings.TrimSpace(string(out)), "=")
	var made struct {
		Key string `json:"key"`
	}
	err = s.Once(ctx, Organization{}, http.MethodPost, link, "", map[string]any{"password": "correct horse battery staple"}, &made)
	return Organization{ID: o.ID, Key: made.Key}, err
}

// NewKey makes a key.
func (s *System) NewKey(ctx context.Context, o Organization, body map[string]any, opts ...api.Option) (Organization, error) {
	var made struct {
		Key string `json:"key"`
	}
	err := s.Once(ctx, o, http.MethodPost, "/api/developer/api-keys", "", body, &made, opts...)
	return Organization{ID: o.ID, Key: made.Key}, err
}
