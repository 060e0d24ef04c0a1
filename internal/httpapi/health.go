package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

// Check is one thing that must work for the process to be ready.
type Check struct {
	Name string
	// Probe returns nil if the thing works.
	Probe func(context.Context) error
	// Advice tells an operator where to look when it does not.
	Advice string
	// Optional is true if the process serves on without it, less well.
	Optional bool
}

// checkTimeout keeps readiness quick when an engine hangs; load balancers
// commonly give up after a few seconds.
const checkTimeout = 2 * time.Second

type healthOutput struct{ Body healthBody }

type healthBody struct {
	Status        string `json:"status" enum:"ok" doc:"Always ok."`
	Version       string `json:"version" doc:"Version of the binary."`
	UptimeSeconds int64  `json:"uptime_seconds" doc:"Seconds since the process started."`
}

type readyOutput struct{ Body readyBody }

type readyBody struct {
	Status string       `json:"status" enum:"ready,degraded" doc:"degraded if an engine does not answer that only some operations need."`
	Checks []checkState `json:"checks" doc:"The result for each engine."`
}

type checkState struct {
	Name    string  `json:"name" doc:"The engine that was checked."`
	OK      bool    `json:"ok" doc:"Whether it answered."`
	Message *string `json:"message" doc:"Advice for the operator if the check fails; otherwise null."`
}

func (e *Edge) registerHealth() {
	Register(e, Op{
		ID: "getHealth", Method: http.MethodGet, Path: "/api/health", Tag: tagOperations, Scope: principal.Public, Status: 200,
		Summary:     "Check liveness",
		Description: "Answers as long as the process runs, whatever the state of its engines.",
	}, e.getHealth)
	Register(e, Op{
		ID: "getReadiness", Method: http.MethodGet, Path: "/api/health/ready", Tag: tagOperations, Scope: principal.Public, Status: 200,
		Summary:     "Check readiness",
		Description: "Answers 503, with the failing checks in `details.checks`, if a required engine does not answer or the process is shutting down. If an engine does not answer that only some operations need, it answers 200 with the status `degraded`.",
	}, e.getReadiness)
}

func (e *Edge) getHealth(context.Context, *struct{}) (*healthOutput, error) {
	var out healthOutput
	out.Body.Status, out.Body.Version = "ok", e.opts.Build
	out.Body.UptimeSeconds = int64(e.opts.Now().Sub(e.started).Seconds())
	return &out, nil
}

func (e *Edge) getReadiness(ctx context.Context, _ *struct{}) (*readyOutput, error) {
	if e.draining.Load() {
		return nil, errDraining
	}
	states := e.readiness.get(ctx, e.opts.Ready)
	var out readyOutput
	out.Body.Status, out.Body.Checks = "ready", states
	for i, s := range states {
		if s.OK {
			continue
		}
		if !e.opts.Ready[i].Optional {
			return nil, errUnavailable.With("checks", states)
		}
		out.Body.Status = "degraded"
	}
	return &out, nil
}

// readinessAge is how long an answer about the engines is shared: anyone may
// ask, and asking must not be a way to keep the engines busy.
const readinessAge = 250 * time.Millisecond

// readiness remembers the last answers for a moment.
type readiness struct {
	mu     sync.Mutex
	at     time.Time
	states []checkState
}

// get probes every engine, at most once in readinessAge.
func (r *readiness) get(ctx context.Context, checks []Check) []checkState {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.states != nil && time.Since(r.at) < readinessAge {
		return r.states
	}
	// Others read the answer too, so the end of one request does not spoil it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	states := make([]checkState, len(checks))
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() {
			err := c.Probe(ctx)
			states[i] = checkState{Name: c.Name, OK: err == nil}
			if err != nil {
				states[i].Message = &c.Advice
			}
			if was := len(r.states) == 0 || r.states[i].OK; was && err != nil {
				slog.WarnContext(ctx, "engine away", "check", c.Name, "error", err)
			} else if !was && err == nil {
				slog.InfoContext(ctx, "engine back", "check", c.Name)
			}
		})
	}
	wg.Wait()
	r.states, r.at = states, time.Now()
	return states
}
