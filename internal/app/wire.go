// Package app puts the process together: configuration, parts, roles and the
// command line. It is the only package that knows every other.
package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/policy"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/evaluation/gate"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/page"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/probe"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/judging/rule"
	"github.com/assayhq/assay/internal/judging/watch"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/ratelimit"
	"github.com/assayhq/assay/internal/platform/redis"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/review/adjudication"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/review/annotator"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/tenancy/account"
	"github.com/assayhq/assay/internal/tenancy/erasure"
)

// App is a process with its parts connected, not yet running.
type App struct {
	Config   Config
	Edge     *httpapi.Edge
	Provider *provider.Service
	Tenancy  *tenancy.Service
	Account  *account.Service
	Dataset  *dataset.Service
	Score    *score.Service
	Trace    *trace.Service
	Judge    *judge.Service
	Probe    *probe.Service
	Watch    *watch.Service
	Rule     *rule.Service

	Evaluation *evaluation.Service
	Decision   *gate.Service
	Annotation *annotation.Service
	Panel      *annotator.Service
	Evidence   *evidence.Service
	Approval   *approval.Service
	Policy     *policy.Service
	// Adjudication reads what the others have and opens items by their events.
	Adjudication *adjudication.Service
	Erasure      *erasure.Service
	Outbox       *change.Dispatcher
	Events       *change.Feed

	postgres   *postgres.DB
	clickhouse *clickhouse.DB
	inserter   *clickhouse.Inserter
	temporal   *temporal.Client
	redis      *redis.Client
	blobs      *blob.Store

	stopLimiter func() error
	workers     []Worker      // of every domain
	migrated    chan struct{} // closed when PostgreSQL has the tables
	migrating   atomic.Bool   // nobody can be answered until then
}

// New connects the parts in order. It waits for no engine: readiness tells
// when all of them answer.
func New(ctx context.Context, cfg Config, build string, now func() time.Time) (*App, error) {
	a := &App{Config: cfg, migrated: make(chan struct{})}
	var err error
	if a.postgres, err = postgres.Open(ctx, cfg.Postgres); err != nil {
		return nil, err
	}
	if a.clickhouse, err = clickhouse.Open(cfg.ClickHouse); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if a.inserter, err = clickhouse.NewInserter(cfg.ClickHouse); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if a.blobs, err = blob.Open(ctx, cfg.Blob); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	budget := admission.New(cfg.Admission)
	if a.temporal, err = temporal.Open(cfg.Temporal, budget); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if a.redis, err = redis.Open(cfg.Redis); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	log := change.New(a.postgres, now)
	if err := a.newTenancy(log, now); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.Account = account.New(account.Parts{Postgres: a.postgres, Tenancy: a.Tenancy, Log: log, Config: cfg.Pages, Now: now})
	a.Dataset = dataset.New(a.postgres, log, now)
	a.Score = score.New(score.Stores{ClickHouse: a.clickhouse, Inserter: a.inserter}, log)
	a.Trace = trace.New(trace.Parts{
		Stores: trace.Stores{Postgres: a.postgres, ClickHouse: a.clickhouse, Inserter: a.inserter, Blobs: a.blobs},
		Config: cfg.Trace, Tenancy: a.Tenancy, Datasets: a.Dataset, Scores: a.Score, Log: log, Now: now,
	})
	a.Judge = judge.New(judge.Parts{
		Postgres: a.postgres, Tenancy: a.Tenancy, Datasets: a.Dataset, Provider: a.Provider, Scores: a.Score, Traces: a.Trace, Log: log, Now: now,
	})
	a.Probe = probe.New(probe.Parts{Postgres: a.postgres, Tenancy: a.Tenancy, Datasets: a.Dataset, Judges: a.Judge, Log: log, Now: now})
	a.Watch = watch.New(watch.Parts{Postgres: a.postgres, Tenancy: a.Tenancy, Datasets: a.Dataset, Judges: a.Judge, Log: log, Now: now})
	a.Rule = rule.New(rule.Parts{
		Postgres: a.postgres, Tenancy: a.Tenancy, Provider: a.Provider, Traces: a.Trace, Scores: a.Score, Judges: a.Judge, Config: cfg.Rule, Log: log, Now: now,
	})
	a.newEvaluation(log, now)
	a.Erasure = erasure.New(erasure.Stores{Postgres: a.postgres, ClickHouse: a.clickhouse}, cfg.Erasure, a.Tenancy, a.temporal)
	a.connect(log, budget, httpapi.Options{
		Config: cfg.HTTP, Build: build, Ready: a.checks(), Now: now,
		Authenticate: a.authenticate, ActFor: a.Tenancy.ActFor, Admit: admit(budget), Limit: a.limit, Observe: a.meter,
		Pages: a.pages(budget),
	})
	return a, nil
}

// admit opens the account of a request.
func admit(budget *admission.Budget) httpapi.Admitter {
	return func(ctx context.Context, org principal.OrgID) (context.Context, httpapi.Account) {
		a := budget.Request(org)
		return admission.With(ctx, a), a
	}
}

// pages are what people see, who have sessions in place of keys.
func (a *App) pages(budget *admission.Budget) *page.Site {
	site := page.New(page.Options{
		Session: a.Account.Find, Plain: a.Config.Pages.Plain(),
		Admit: func(ctx context.Context, org principal.OrgID) (context.Context, func()) {
			account := budget.Request(org)
			return admission.With(ctx, account), account.Close
		},
	})
	a.Account.RegisterPages(site)
	a.Approval.RegisterPages(site)
	return site
}

// redisPatience is how long a request waits for the shared count before its
// replica counts alone. A busy machine answers later than an idle one; a count
// of one's own admits more than the limit allows.
const redisPatience = 250 * time.Millisecond

// newTenancy makes what recognises and meters callers, and what asks the models
// and applications of others. One provider lives here and needs no key.
func (a *App) newTenancy(log *change.Log, now func() time.Time) error {
	out, err := egress.New(a.Config.Egress)
	if err != nil {
		return err
	}
	parts := tenancy.Parts{
		Stores: tenancy.Stores{Postgres: a.postgres, ClickHouse: a.clickhouse},
		Config: a.Config.Key, Plans: a.Config.Plan, Log: log, Now: now,
	}
	var secrets *secret.Keeper
	if a.Config.Secret.Enabled() {
		if secrets, err = secret.New(a.Config.Secret, now); err != nil {
			return err
		}
	}
	parts.Limiter, a.stopLimiter = ratelimit.Open(a.redis, ratelimit.Window, ratelimit.Options{Clock: now, Timeout: redisPatience})
	a.Tenancy = tenancy.New(parts)
	pretend, err := simulated.New(simulated.Options{Remember: -1})
	if err != nil {
		return err
	}
	a.Provider = provider.New(provider.Parts{
		Postgres: a.postgres, Tenancy: a.Tenancy, Secrets: secrets, Egress: out, Log: log, Now: now,
		Models: llm.New(out.HTTP(egress.Options{Timeout: modelTimeout}), llm.Inside("simulated", simulated.Transport(pretend))),
	})
	return nil
}

// modelTimeout is how long a model may think about one answer.
const modelTimeout = 5 * time.Minute

// newEvaluation makes what executes runs.
func (a *App) newEvaluation(log *change.Log, now func() time.Time) {
	a.Evidence = evidence.New(evidence.Parts{
		Stores: evidence.Stores{Postgres: a.postgres, ClickHouse: a.clickhouse, Inserter: a.inserter}, Config: a.Config.Evidence, Tenancy: a.Tenancy, Traces: a.Trace, Log: log, Now: now,
	})
	a.Evaluation = evaluation.New(evaluation.Parts{
		Postgres: a.postgres, Results: result.New(result.Stores{ClickHouse: a.clickhouse, Inserter: a.inserter}, now), Datasets: a.Dataset, Tenancy: a.Tenancy, Blobs: a.blobs,
		Provider: a.Provider, Traces: a.Trace, Scores: a.Score, Judges: a.Judge, Effects: a.Evidence.Caused, Config: a.Config.Evaluation, Log: log, Now: now,
	})
	a.Annotation = annotation.New(annotation.Parts{
		Postgres: a.postgres, Tenancy: a.Tenancy, Datasets: a.Dataset, Traces: a.Trace, Scores: a.Score, Evaluations: a.Evaluation, Log: log, Now: now,
	})
	a.Panel = annotator.New(annotator.Parts{Tenancy: a.Tenancy, Annotations: a.Annotation, Now: now})
	a.Approval = approval.New(approval.Parts{Postgres: a.postgres, Tenancy: a.Tenancy, Evidence: a.Evidence, Log: log, Now: now})
	a.Policy = policy.New(policy.Parts{Postgres: a.postgres, Tenancy: a.Tenancy, Evidence: a.Evidence, Approvals: a.Approval, Log: log, Now: now})
	a.Decision = gate.New(gate.Parts{Postgres: a.postgres, Evaluations: a.Evaluation, Tenancy: a.Tenancy, Log: log, Now: now})
	a.Adjudication = adjudication.New(adjudication.Parts{
		Postgres: a.postgres, Tenancy: a.Tenancy, Datasets: a.Dataset, Scores: a.Score, Traces: a.Trace, Judges: a.Judge, Evaluations: a.Evaluation, Annotations: a.Annotation, Panels: a.Panel, Log: log, Now: now,
	})
}

// authenticate finds the caller, once there are tables to look in.
func (a *App) authenticate(ctx context.Context, token string) (principal.Caller, error) {
	if a.migrating.Load() {
		return principal.Caller{}, postgres.ErrUnavailable
	}
	return a.Tenancy.Authenticate(ctx, token)
}

// limit counts a request and says where its key stands.
func (a *App) limit(ctx context.Context, c principal.Caller) (httpapi.Quota, error) {
	d, err := a.Tenancy.Spend(ctx, c)
	return httpapi.Quota{
		Allowed: d.Allowed, Limit: d.Limit, Remaining: d.Remaining, Reset: d.ResetAfter, Retry: d.RetryAfter, Window: ratelimit.Window,
	}, err
}

// meter counts an answered request in the figures of usage.
func (a *App) meter(o httpapi.Outcome) {
	a.Tenancy.Meter(tenancy.Request{
		Org: o.Caller.Org, KeyID: o.Caller.KeyID, Operation: o.Operation, Status: o.Status, Took: o.Took, At: o.At,
	})
}

// Document is the OpenAPI document, which needs no engine.
func Document() ([]byte, error) {
	a := &App{
		Account: account.New(account.Parts{}),
		Tenancy: tenancy.New(tenancy.Parts{}), Provider: provider.New(provider.Parts{}), Dataset: dataset.New(nil, nil, nil),
		Score: score.New(score.Stores{}, nil), Trace: trace.New(trace.Parts{}), Judge: judge.New(judge.Parts{}), Probe: probe.New(probe.Parts{}), Watch: watch.New(watch.Parts{}),
		Rule:       rule.New(rule.Parts{}),
		Evaluation: evaluation.New(evaluation.Parts{}), Decision: gate.New(gate.Parts{}), Annotation: annotation.New(annotation.Parts{}), Panel: annotator.New(annotator.Parts{}), Evidence: evidence.New(evidence.Parts{}), Approval: approval.New(approval.Parts{}), Policy: policy.New(policy.Parts{}), Adjudication: adjudication.New(adjudication.Parts{}), Erasure: erasure.New(erasure.Stores{}, erasure.Config{}, nil, nil),
	}
	a.newEdge(httpapi.Options{}, a.domains())
	return a.Edge.OpenAPI(), nil
}

// checks are what readiness asks.
func (a *App) checks() []httpapi.Check {
	checks := []httpapi.Check{
		{Name: "postgres", Probe: a.checkPostgres, Advice: "PostgreSQL does not respond, its role is unsafe or its schema is outdated: see the log, check ASSAY_POSTGRES_URL, run `assay migrate`."},
		{Name: "clickhouse", Probe: a.clickhouse.Ping, Optional: true, Advice: "ClickHouse does not respond, so traces, results and usage cannot be read, and telemetry is deferred: check ASSAY_CLICKHOUSE_URL and the server."},
		{Name: "blobs", Probe: a.blobs.Ping, Optional: true, Advice: "Object storage does not respond, so telemetry is rejected while ClickHouse is unavailable: check ASSAY_BLOB_URL."},
		{Name: "temporal", Probe: a.temporal.Ping, Optional: true, Advice: "Temporal does not respond, so runs and deletions wait: check ASSAY_TEMPORAL_ADDRESS and the server."},
	}
	if a.redis != nil {
		checks = append(checks, httpapi.Check{Name: "redis", Probe: a.redis.Ping, Optional: true, Advice: "Redis does not respond, so each replica counts rate limits on its own: check ASSAY_REDIS_URL and the server."})
	}
	return checks
}

func (a *App) checkPostgres(ctx context.Context) error {
	return a.postgres.CheckSchema(ctx, db.Postgres())
}

// Close lets go of every engine.
func (a *App) Close() error {
	var errs []error
	if a.temporal != nil {
		a.temporal.Close()
	}
	if a.stopLimiter != nil {
		errs = append(errs, a.stopLimiter())
	}
	if a.redis != nil {
		errs = append(errs, a.redis.Close())
	}
	if a.inserter != nil {
		errs = append(errs, a.inserter.Close())
	}
	if a.clickhouse != nil {
		errs = append(errs, a.clickhouse.Close())
	}
	if a.blobs != nil {
		errs = append(errs, a.blobs.Close())
	}
	if a.Provider != nil {
		a.Provider.Close()
	}
	if a.postgres != nil {
		a.postgres.Close()
	}
	return errors.Join(errs...)
}
