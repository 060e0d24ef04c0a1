package temporal

import (
	"context"
	"fmt"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// Execution is one workflow, under way or ended.
type Execution struct{ ID, Run string }

// Each calls do for every workflow whose id begins with a prefix: for those that
// are under way, or for those that have ended. What began or ended in the last
// second or two may be missing.
func (c *Client) Each(ctx context.Context, prefix string, running bool, do func(Execution) error) error {
	status := "!="
	if running {
		status = "="
	}
	// Ids are made of words and numbers, so there is nothing to quote.
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.cfg.Namespace, PageSize: listPage,
		Query: fmt.Sprintf("WorkflowId STARTS_WITH '%s:%s' AND ExecutionStatus %s 'Running'", c.cfg.QueuePrefix, prefix, status),
	}
	for {
		answer, err := c.ListWorkflow(ctx, request)
		if err != nil {
			return fmt.Errorf("list workflows: %w", err)
		}
		for _, e := range answer.GetExecutions() {
			if err := do(Execution{ID: e.GetExecution().GetWorkflowId(), Run: e.GetExecution().GetRunId()}); err != nil {
				return err
			}
		}
		if request.NextPageToken = answer.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

const listPage = 500

// Terminate ends a workflow at once. Its activities notice when they next beat.
func (c *Client) Terminate(ctx context.Context, e Execution, why string) error {
	return ignoreMissing(c.TerminateWorkflow(ctx, e.ID, e.Run, why))
}

// Forget deletes the history of a workflow.
func (c *Client) Forget(ctx context.Context, e Execution) error {
	_, err := c.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: c.cfg.Namespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: e.ID, RunId: e.Run},
	})
	return ignoreMissing(err)
}
