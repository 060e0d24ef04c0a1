package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
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

func (s *system) get(ctx context.Context, o *organization, path string, out any) error {
	return s.insist(ctx, o, http.MethodGet, path, "", nil, out)
}

// post changes something once, however often the answer is lost on its way.
func (s *system) post(ctx context.Context, o *organization, path, key string, in, out any) error {
	return s.insist(ctx, o, http.MethodPost, path, key, in, out)
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
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (s *system) call(ctx context.Context, o *organization, method, path, key string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.MarshalWrite(&body, in); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, &body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+o.key)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= http.StatusBadRequest {
		return &refusal{res.StatusCode, string(text[:min(len(text), 600)])}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
