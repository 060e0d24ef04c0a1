package testkit

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/command/client/api"
)

type (
	// Decision is what a gate decided about a run.
	Decision = api.Decision
	// DecisionList is a page of decisions.
	DecisionList = api.DecisionList
	// ItemPlan is how many items a difference needs.
	ItemPlan = api.ItemPlan
	// RunSeries is several runs side by side.
	RunSeries = api.RunSeries
)

// Decide holds a run against requirements.
func (c *Client) Decide(ctx context.Context, evaluation, run string, asked map[string]any) (out Decision, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/evaluations/"+evaluation+"/runs/"+run+"/decisions", asked, &out)
	return out, err
}
