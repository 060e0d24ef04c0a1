package app

import (
	"context"

	"go.temporal.io/sdk/worker"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/reference"
	"github.com/assayhq/assay/internal/judging/probe"
	"github.com/assayhq/assay/internal/judging/rule"
	"github.com/assayhq/assay/internal/judging/watch"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy/erasure"
)

// Domain is what one area of the product gives to a process. Whatever it does
// not have is left out.
type Domain struct {
	Name string
	// HTTP registers its operations.
	HTTP func(*httpapi.Edge)
	// Handlers take the commands of its topics from the outbox. They have a loop
	// of their own, so that a slow one delays no other domain.
	Handlers map[string]change.Handler
	// Followers read the events of all domains.
	Followers []change.Follower
	// Workers execute its long-running work.
	Workers []Worker
	// Erasure is its part in erasing an organization.
	Erasure erasure.Part
}

// Worker serves one task queue.
type Worker struct {
	Queue    string
	Register func(worker.Registry)
	// Slots is how many activities run at once; zero is the default.
	Slots int
}

// domains lists the areas of the product. It is the only place that a new one is
// added to, besides the making of its service.
func (a *App) domains() []Domain {
	keep := a.Config.Evaluation.KeepDeleted
	return []Domain{
		{Name: "tenancy", HTTP: a.Tenancy.RegisterHTTP},
		{Name: "account", HTTP: a.Account.RegisterHTTP},
		{Name: "provider", HTTP: a.Provider.RegisterHTTP, Erasure: erasure.Part{Erase: a.Provider.Erase}},
		{Name: "dataset", HTTP: a.Dataset.RegisterHTTP, Handlers: dataset.Handlers(a.temporal, a.Config.Dataset.KeepDeleted), Workers: []Worker{{Queue: dataset.Queue, Register: a.Dataset.Register}}, Erasure: erasure.Part{Workflows: []string{"dataset-purge"}}},
		{Name: "score", Handlers: a.Score.Handlers()},
		{
			Name: "trace", HTTP: a.Trace.RegisterHTTP, Handlers: trace.Handlers(a.temporal), Workers: []Worker{{Queue: trace.Queue, Register: a.Trace.Register}},
			Erasure: erasure.Part{Workflows: []string{"trace-delete"}, Erase: a.Trace.Erase},
		},
		{Name: "judge", HTTP: a.Judge.RegisterHTTP},
		{
			Name: "probe", HTTP: a.Probe.RegisterHTTP, Handlers: a.Probe.Handlers(a.temporal), Workers: []Worker{{Queue: probe.Queue, Register: a.Probe.Register}},
			Erasure: erasure.Part{Stop: a.Probe.CancelAll, Workflows: []string{"judge-probe"}},
		},
		{
			Name: "watch", HTTP: a.Watch.RegisterHTTP, Handlers: watch.Handlers(a.temporal), Workers: []Worker{{Queue: watch.Queue, Register: a.Watch.Register}},
			Erasure: erasure.Part{Workflows: []string{"judge-watch"}},
		},
		{
			Name: "rule", HTTP: a.Rule.RegisterHTTP, Handlers: rule.Handlers(a.temporal), Workers: []Worker{{rule.Queue, a.Rule.Register, a.Config.Rule.Slots}},
			Erasure: erasure.Part{Workflows: []string{rule.KindRule, rule.KindBackfill}},
		},
		{
			Name: "evaluation", HTTP: a.Evaluation.RegisterHTTP, Handlers: a.Evaluation.Handlers(a.temporal, keep),
			Erasure: erasure.Part{Stop: a.Evaluation.CancelAll, Workflows: []string{"run", "evaluation-purge"}, Erase: a.Evaluation.EraseFiles},
			Workers: []Worker{{evaluation.Queue, a.Evaluation.Register, a.Config.Evaluation.Slots}, {evaluation.QueueUnits, a.Evaluation.RegisterUnits, a.Config.Evaluation.Slots}},
		},
		{
			Name: "annotation", HTTP: a.Annotation.RegisterHTTP, Handlers: a.Annotation.Handlers(a.temporal), Workers: []Worker{{Queue: annotation.Queue, Register: a.Annotation.Register}},
			Erasure: erasure.Part{Workflows: []string{annotation.KindPurge}},
		},
		{Name: "panel", HTTP: a.Panel.RegisterHTTP},
		{
			Name: "evidence", HTTP: a.Evidence.RegisterHTTP, Handlers: a.Evidence.Handlers(a.temporal), Workers: []Worker{{Queue: evidence.Queue, Register: a.Evidence.Register}},
			Erasure: erasure.Part{Workflows: []string{evidence.KindNormalization, evidence.KindFollow}},
		},
		{Name: "approval", HTTP: a.Approval.RegisterHTTP, Handlers: a.Approval.Handlers()},
		{Name: "policy", HTTP: a.Policy.RegisterHTTP},
		{Name: "decision", HTTP: a.Decision.RegisterHTTP},
		{Name: "adjudication", HTTP: a.Adjudication.RegisterHTTP, Handlers: a.Adjudication.Handlers(), Followers: []change.Follower{a.Adjudication.Follower()}},
		{Name: "erasure", Handlers: erasure.Handlers(a.temporal), Workers: []Worker{{Queue: erasure.Queue, Register: a.Erasure.Register}}},
	}
}

// connect registers what every domain gives.
func (a *App) connect(log *change.Log, budget *admission.Budget, opts httpapi.Options) {
	domains := a.domains()
	var groups []map[string]change.Handler
	var followers []change.Follower
	for _, d := range domains {
		if d.Handlers != nil {
			groups = append(groups, d.Handlers)
		}
		a.Erasure.Use(d.Erasure)
		followers = append(followers, d.Followers...)
		a.workers = append(a.workers, d.Workers...)
	}
	a.Outbox = log.NewDispatcher(budget, groups...)
	a.Events = log.NewFeed(a.Config.Events, followers...)
	a.newEdge(opts, domains)
}

// newEdge registers every domain's operations.
func (a *App) newEdge(opts httpapi.Options, domains []Domain) {
	opts.SourceHashes, opts.Reference, opts.Webhooks = sourceHashes, reference.Render, webhooks()
	a.Edge = httpapi.New(opts)
	for _, d := range domains {
		if d.HTTP != nil {
			d.HTTP(a.Edge)
		}
	}
	a.Tenancy.SetRoutes(a.Edge.Ops())
	a.Edge.Seal()
}

// webhooks are the types of events that callers know by a name of their own.
func webhooks() map[string]httpapi.Webhook {
	all := map[string]httpapi.Webhook{}
	for _, t := range event.All() {
		if name := t.Public(); name != "" {
			all[name] = httpapi.Webhook{Says: t.Says(), Actions: append(all[name].Actions, t.Action()), Resource: t.Resource(), Schema: t.Schema()}
		}
	}
	return all
}

// queues are the parts that serve the domains' queues.
func (a *App) queues() (all []part) {
	for _, w := range a.workers {
		all = append(all, part{"worker of " + w.Queue, []Role{RoleWorker, RoleAll}, func(a *App, ctx context.Context) error {
			return a.temporal.Worker(ctx, w.Queue, w.Register, w.Slots)
		}})
	}
	return all
}
