package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/httpapi/otlp"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/telemetry"
	"github.com/assayhq/assay/internal/tenancy"
)

// Role is what a process does. The same binary plays every role; replicas of a
// role share nothing but the engines.
type Role string

// The roles.
const (
	RoleServe  Role = "serve"
	RoleWorker Role = "worker"
	RoleAll    Role = "all"
)

// part is one thing that runs in a process until its context ends.
type part struct {
	name  string
	roles []Role
	run   func(*App, context.Context) error
}

// firstParts begin at once, whatever is away.
var firstParts = []part{
	{"internal listener", []Role{RoleServe, RoleWorker, RoleAll}, (*App).runInternal},
	{"public listener", []Role{RoleServe, RoleAll}, (*App).runPublic},
	{"otlp listener", []Role{RoleServe, RoleAll}, (*App).runRPC},
	{"migrations", []Role{RoleAll}, (*App).runMigrations},
}

// parts begin when the tables of PostgreSQL are there, if the process makes them itself.
// The workers of domains come on top.
var parts = []part{
	// Whoever deferred telemetry inserts it; with shared object storage anyone may.
	{"telemetry drain", []Role{RoleServe, RoleWorker, RoleAll}, func(a *App, ctx context.Context) error { return a.Trace.RunDrain(ctx) }},
	{"usage meter", []Role{RoleServe, RoleAll}, func(a *App, ctx context.Context) error { return a.Tenancy.RunMeter(ctx) }},
	// Whoever promised something hands it over at once; if it cannot, anyone does.
	{"outbox dispatcher", []Role{RoleServe, RoleWorker, RoleAll}, func(a *App, ctx context.Context) error { return a.Outbox.Run(ctx) }},
	{"pepper check", []Role{RoleServe, RoleAll}, (*App).checkPepper},
	{"row filter check", []Role{RoleServe, RoleWorker, RoleAll}, (*App).checkFilter},
	{"purge rounds", []Role{RoleWorker, RoleAll}, func(a *App, ctx context.Context) error { return a.Erasure.RunRounds(ctx) }},
	{"kept answers", []Role{RoleWorker, RoleAll}, sweep(func(a *App) sweeper { return a.Provider.SweepAnswers })},
	{"evidence keys", []Role{RoleWorker, RoleAll}, sweep(func(a *App) sweeper { return a.Evidence.SweepKeys })},
	{"policy history", []Role{RoleWorker, RoleAll}, sweep(func(a *App) sweeper { return a.Policy.SweepActions })},
	{"event feed", []Role{RoleWorker, RoleAll}, func(a *App, ctx context.Context) error { return a.Events.Run(ctx) }},
}

// sweeper forgets what is too old, in every organization, and returns how much that was.
type sweeper func(context.Context) (int64, error)

// sweepEvery is how often sweepers are called: answers of models fill their share in less than an hour.
const sweepEvery = 10 * time.Minute

// sweep calls a sweeper now and then until ctx ends.
func sweep(of func(*App) sweeper) func(*App, context.Context) error {
	return func(a *App, ctx context.Context) error {
		t := time.NewTicker(sweepEvery)
		defer t.Stop()
		for {
			if _, err := of(a)(ctx); err != nil && ctx.Err() == nil {
				slog.WarnContext(ctx, "what is too old is not forgotten", "error", err)
			}
			select {
			case <-t.C:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// Run plays a role until ctx ends or a part fails. Every part has ended when
// it returns.
func (a *App) Run(ctx context.Context, role Role) error {
	g, ctx := errgroup.WithContext(ctx)
	begin := func(p part) {
		if slices.Contains(p.roles, role) {
			g.Go(func() error {
				if err := p.run(a, ctx); err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
				slog.Debug("part ended", "part", p.name)
				return nil
			})
		}
	}
	a.migrating.Store(role == RoleAll)
	for _, p := range firstParts {
		begin(p)
	}
	g.Go(func() error {
		if role == RoleAll {
			select {
			case <-a.migrated:
			case <-ctx.Done():
				return nil
			}
		}
		for _, p := range slices.Concat(parts, a.queues()) {
			begin(p)
		}
		return nil
	})
	err := g.Wait()
	// Requests that ended after the meter did are counted too.
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	a.Tenancy.FlushMeter(limit)
	if err := a.Provider.SettleSpending(limit); err != nil {
		slog.Warn("spending of the last seconds is not written down", "error", err)
	}
	return err
}

// checkPepper ends the process if its pepper makes every key invalid. Until
// PostgreSQL answers it asks again.
func (a *App) checkPepper(ctx context.Context) error {
	for {
		err := a.Tenancy.CheckPepper(ctx, true)
		var wrong *tenancy.PepperError
		if err == nil || errors.As(err, &wrong) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// checkFilter logs once what to install if ClickHouse has no row filter for the
// reader. Until the server answers it asks again.
func (a *App) checkFilter(ctx context.Context) error {
	for {
		err := a.clickhouse.Filtered(ctx)
		if errors.Is(err, clickhouse.ErrUnfiltered) {
			slog.WarnContext(ctx, "a missing condition would show rows of other organizations", "error", err)
		}
		if err == nil || errors.Is(err, clickhouse.ErrUnfiltered) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(30 * time.Second):
		}
	}
}

func (a *App) runPublic(ctx context.Context) error {
	l, err := listen(ctx, a.Config.HTTP.Addr, "ASSAY_HTTP_ADDR")
	if err != nil {
		return err
	}
	slog.Info("listening", "addr", l.Addr().String(), "reference", "/api/reference")
	return a.Edge.Run(ctx, l)
}

// runRPC serves OTLP over gRPC.
func (a *App) runRPC(ctx context.Context) error {
	if a.Config.Trace.GRPCAddr == "" {
		<-ctx.Done()
		return nil
	}
	l, err := listen(ctx, a.Config.Trace.GRPCAddr, "ASSAY_TRACE_GRPC_ADDR")
	if err != nil {
		return err
	}
	slog.Info("listening", "addr", l.Addr().String(), "protocol", "otlp/grpc")
	return otlp.Run(ctx, a.Edge, l)
}

func (a *App) runInternal(ctx context.Context) error {
	if a.Config.HTTP.InternalAddr == "" {
		<-ctx.Done()
		return nil
	}
	l, err := listen(ctx, a.Config.HTTP.InternalAddr, "ASSAY_HTTP_INTERNAL_ADDR")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: telemetry.Handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = srv.Close() // nobody waits for a scrape
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func listen(ctx context.Context, addr, setting string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with %s", addr, err, setting)
	}
	return l, nil
}
