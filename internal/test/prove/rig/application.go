package rig

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/command/client/api"
)

// Organization is one tenant and its key.
type Organization struct{ ID, Key string }

// Assay is a command of the application.
func (s *System) Assay(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.Binary, args...)
	cmd.Env = append(s.Env[:len(s.Env):len(s.Env)], "ASSAY_DEV_SABOTAGE="+s.Removed)
	return cmd
}

// Prepare makes the application's tables and two organizations.
func (s *System) Prepare(ctx context.Context) (orgs []Organization, err error) {
	if out, err := s.Assay(ctx, "migrate").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("migrate: %w\n%s", err, out)
	}
	for _, name := range []string{"First", "Second"} {
		o, err := s.Bootstrap(ctx, name)
		if err != nil {
			return nil, err
		}
		orgs = append(orgs, o)
	}
	return orgs, nil
}

// Bootstrap makes an organization.
func (s *System) Bootstrap(ctx context.Context, name string) (o Organization, err error) {
	out, err := s.Assay(ctx, "admin", "bootstrap", "--organization", name).Output()
	if err != nil {
		return o, fmt.Errorf("bootstrap: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "SERVICE_ORGANIZATION_ID":
			o.ID = value
		case "SERVICE_API_KEY":
			o.Key = value
		}
	}
	return o, nil
}

// client waits longer than the application lets a request take.
var client = &http.Client{Timeout: 40 * time.Second}

// Call asks the application once and returns its whole answer. A key makes the
// request safe to repeat.
func (s *System) Call(ctx context.Context, o Organization, method, path, key string, in any, opts ...api.Option) (status int, answer []byte, err error) {
	var body bytes.Buffer
	if in != nil {
		if err := json.MarshalWrite(&body, in); err != nil {
			return 0, nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, &body)
	if err != nil {
		return 0, nil, err
	}
	if o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+o.Key)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	for _, opt := range opts {
		opt(req)
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}
