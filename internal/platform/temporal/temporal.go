// Package temporal is the engine for work that lasts: the client and one
// worker per domain.
package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/assayhq/assay/internal/platform/admission"
)

// Config says how to reach Temporal.
type Config struct {
	Address     string `setting:"address" default:"localhost:7233" help:"host:port of the Temporal frontend."`
	Namespace   string `setting:"namespace" default:"assay" help:"Namespace of the workflows."`
	QueuePrefix string `setting:"queue_prefix" default:"assay" help:"Prefix of the task queues. Must be unique among deployments that share a namespace."`
	TLS         TLS    `setting:"tls"`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.Address == "" {
		errs = append(errs, errors.New("address is empty: give host:port of the frontend, for example localhost:7233"))
	}
	if c.Namespace == "" {
		errs = append(errs, errors.New("namespace is empty: give the namespace of the workflows, for example assay"))
	}
	if c.QueuePrefix == "" {
		errs = append(errs, errors.New("queue_prefix is empty: give a short word, for example assay"))
	}
	if _, err := c.TLS.config(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Client starts workflows and makes workers.
type Client struct {
	client.Client
	cfg    Config
	budget *admission.Budget
}

// Open prepares the client. It does not wait for the server: the connection is
// made by the first call. Activities of its workers draw from the budget.
func Open(cfg Config, budget *admission.Budget) (*Client, error) {
	secured, err := cfg.TLS.config()
	if err != nil {
		return nil, err
	}
	c, err := client.NewLazyClient(client.Options{
		HostPort:          cfg.Address,
		Namespace:         cfg.Namespace,
		Logger:            log.NewStructuredLogger(slog.Default().With("component", "temporal")),
		ConnectionOptions: client.ConnectionOptions{TLS: secured},
	})
	if err != nil {
		return nil, fmt.Errorf("open temporal client: %w", err)
	}
	return &Client{Client: c, cfg: cfg, budget: budget}, nil
}

// Ping reports whether the server answers and knows the namespace.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}

// Queue is the task queue of a domain. Activity names are method names, so
// domains do not share a queue.
func (c *Client) Queue(domain string) string { return c.cfg.QueuePrefix + "-" + domain }

// Start starts a workflow under an id, or does nothing if that workflow is
// running already: twice is once.
func (c *Client) Start(ctx context.Context, domain, id string, workflow, input any) error {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       c.cfg.QueuePrefix + ":" + id,
		TaskQueue:                c.Queue(domain),
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, workflow, input)
	return err
}

// Cancel asks a workflow to end. It does nothing if there is none that runs.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return ignoreMissing(c.CancelWorkflow(ctx, c.cfg.QueuePrefix+":"+id, ""))
}

// Signal wakes a workflow. It does nothing if there is none that runs.
func (c *Client) Signal(ctx context.Context, id, signal string) error {
	return ignoreMissing(c.SignalWorkflow(ctx, c.cfg.QueuePrefix+":"+id, "", signal, nil))
}

func ignoreMissing(err error) error {
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return nil
	}
	return err
}

// defaultSlots is how many activities of a queue a worker executes at once,
// unless the domain says otherwise.
const defaultSlots = 32

// Worker serves one domain's queue until ctx ends, then lets what it runs
// finish. Registration is done by the domain. Slots bounds how many activities it
// executes at once, of which an organization gets at most half; zero is
// a number that suits most.
func (c *Client) Worker(ctx context.Context, domain string, register func(worker.Registry), slots int) error {
	slots = cmp.Or(slots, defaultSlots)
	fatal := make(chan error, 1)
	options := worker.Options{
		WorkerStopTimeout: 20 * time.Second,
		// The library would hold heartbeats back for most of their time-out, and
		// with them the news that an activity is cancelled.
		MaxHeartbeatThrottleInterval:     5 * time.Second,
		DefaultHeartbeatThrottleInterval: 5 * time.Second,
		OnFatalError:                     func(err error) { fatal <- err },

		MaxConcurrentActivityExecutionSize: slots,
		Interceptors:                       []interceptor.WorkerInterceptor{&admitter{budget: c.budget, shares: admission.NewTurns(slots)}},
	}
	w := worker.New(c.Client, c.Queue(domain), options)
	register(w)
	// The server may be away when the process starts.
	for {
		err := w.Start()
		if err == nil {
			break
		}
		slog.WarnContext(ctx, "worker cannot start yet", "domain", domain, "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(2 * time.Second):
		}
	}
	select {
	case <-ctx.Done():
		w.Stop()
		return nil
	case err := <-fatal:
		return fmt.Errorf("worker of %s stopped: %w", domain, err)
	}
}

// Leaving is closed when the worker of an activity is to stop. An activity that begins
// nothing more then, keeps what is under way and returns an error loses nothing: the
// engine gives the rest to another worker. After 20 seconds the activity's context ends.
func Leaving(ctx context.Context) <-chan struct{} { return activity.GetWorkerStopChannel(ctx) }

// errLeaving is why an activity ends whose worker is to stop. It is nothing to worry about.
var errLeaving = sdk.NewApplicationErrorWithOptions("the worker is to stop: another one goes on", "leaving",
	sdk.ApplicationErrorOptions{Category: sdk.ApplicationErrorCategoryBenign})

// Staying is an activity's context, which ends earlier if its worker is to stop: with a
// cause that the activity returns when it has kept what is under way. The caller ends it.
func Staying(ctx context.Context) (staying context.Context, end func()) {
	staying, stop := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-Leaving(ctx):
			stop(errLeaving)
		case <-staying.Done():
		}
	}()
	return staying, func() { stop(nil) }
}

// KeepBeating tells the server that an activity is alive while its own code
// waits for something, until the returned function is called. The details are
// what the next attempt gets to know of this one.
func KeepBeating(ctx context.Context, details ...any) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(cmp.Or(activity.GetInfo(ctx).HeartbeatTimeout/4, 5*time.Second))
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				activity.RecordHeartbeat(ctx, details...)
			}
		}
	}()
	return func() { close(done); <-stopped }
}
