package evidence

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// Queue is the domain's task queue.
const Queue = "evidence"

// The kinds of the domain's workflows, with which their ids begin: one reads events again,
// the other spans as they come.
const (
	KindNormalization = "evidence-normalization"
	KindFollow        = "evidence-follow"
)

// Renormalize names a normalization.
type Renormalize struct {
	Org principal.OrgID `json:"org"`
	ID  int64           `json:"id"`
}

// Follow names a period in which spans of an organization come. It is a trace.Arrived.
type Follow struct {
	Org    principal.OrgID `json:"org"`
	Period int64           `json:"period"`
}

// starter starts a workflow under an id; starting it twice is starting it once.
type starter interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
}

// Handlers hand normalizations, and periods in which spans come, to their workflows.
func (s *Service) Handlers(engine starter) map[string]change.Handler {
	return map[string]change.Handler{
		TopicEffectDue: s.effectDue,
		TopicNormalize: func(ctx context.Context, m change.Message) error {
			var in Renormalize
			if err := json.Unmarshal(m.Payload, &in); err != nil {
				return fmt.Errorf("read normalization: %w", err)
			}
			return engine.Start(ctx, Queue, fmt.Sprintf("%s:%s:%d", KindNormalization, in.Org, in.ID), NormalizationWorkflow, in)
		},
		trace.TopicArrived: func(ctx context.Context, m change.Message) error {
			var in Follow
			if err := json.Unmarshal(m.Payload, &in); err != nil {
				return fmt.Errorf("read arrival: %w", err)
			}
			return engine.Start(ctx, Queue, FollowID(in), FollowWorkflow, in)
		},
	}
}

// FollowID names the workflow that follows a period.
func FollowID(in Follow) string {
	return fmt.Sprintf("%s:%s:%d", KindFollow, in.Org, in.Period)
}

// maxRounds is how many activities one run of the workflow has: the next run continues,
// with a short history.
const maxRounds = 500

// NormalizationWorkflow reads events again, some at a time, until there are no more.
func NormalizationWorkflow(ctx workflow.Context, in Renormalize) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	var a *Activities
	for range maxRounds {
		var done bool
		if err := workflow.ExecuteActivity(ctx, a.Normalize, in).Get(ctx, &done); err != nil || done {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, NormalizationWorkflow, in)
}

// FollowWorkflow makes evidence of the spans that come in a period, until all of it has been
// read. What it remembers lies in the organization's cursor.
func FollowWorkflow(ctx workflow.Context, in Follow) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    20 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		Priority:            temporal.Priority{FairnessKey: in.Org.String()},
	})
	var a *Activities
	for {
		var done Followed
		if err := workflow.ExecuteActivity(ctx, a.FollowSpans, in).Get(ctx, &done); err != nil || done.Ended {
			return err
		}
		if done.Wait > 0 {
			if err := workflow.Sleep(ctx, done.Wait); err != nil {
				return err
			}
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, FollowWorkflow, in)
		}
	}
}

// Register puts the domain's workflows and activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(NormalizationWorkflow)
	r.RegisterWorkflow(FollowWorkflow)
	r.RegisterActivity(&Activities{service: s})
}
