package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/client/api"
	"github.com/assayhq/assay/internal/prove/rig"
)

// refusal is an answer that no repetition changes.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.text) }

// isConflict tells whether the state of things forbids what was asked.
func isConflict(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == http.StatusConflict
}

// post changes something once, however often the answer is lost on its way.
func (s *system) post(ctx context.Context, o *organization, path, key string, in, out any) error {
	return s.insist(ctx, o, http.MethodPost, path, key, in, out)
}

// as is the generated client of an organization. It repeats a request until it
// is answered; a key makes a write safe to repeat.
func (s *system) as(o *organization, key string) api.Client {
	return api.Client{Send: func(ctx context.Context, method, path string, in, out any, _ []api.Option) error {
		return s.insist(ctx, o, method, path, key, in, out)
	}}
}

// insist repeats a request until it is answered: servers and engines come back.
func (s *system) insist(ctx context.Context, o *organization, method, path, key string, in, out any) error {
	for limit := time.Now().Add(patience); ; {
		err := s.call(ctx, o, method, path, key, in, out)
		var no *refusal
		switch {
		case err == nil:
			return nil
		case errors.As(err, &no) && no.status < 500 && no.status != http.StatusTooManyRequests && !bytes.Contains([]byte(no.text), []byte("idempotency_in_progress")),
			time.Now().After(limit):
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		if err := rig.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (s *system) call(ctx context.Context, o *organization, method, path, key string, in, out any) error {
	status, answer, err := s.Call(ctx, o.Organization, method, path, key, in)
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		return &refusal{status, string(answer[:min(len(answer), 600)])}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
