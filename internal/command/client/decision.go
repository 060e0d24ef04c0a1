package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
)

type (
	// Asked is what a gate asks of a run.
	Asked = api.DecideRun
	// Decision is what a gate decided about a run.
	Decision = api.Decision
	// Ruling is the answer to one requirement.
	Ruling = api.DecisionRuling
)

// Decide holds a run that has ended against requirements, and keeps the decision.
// Doing it again with the same idempotency key, which must not be empty, returns
// the same decision.
func (c *Client) Decide(ctx context.Context, evaluation, run string, asked Asked, idempotencyKey string) (Decision, error) {
	d, err := c.call().DecideEvaluationRun(ctx, evaluation, run, asked, func(r *http.Request) { r.Header.Set("Idempotency-Key", idempotencyKey) })
	if err == nil && d.Verdict == "" {
		err = fmt.Errorf("%s: %w", c.base, errFormat)
	}
	return d, err
}

// Plan says how many items a difference needs, and returns the answer as the
// server wrote it too.
func (c *Client) Plan(ctx context.Context, evaluation string, query url.Values) (api.ItemPlan, jsontext.Value, error) {
	k := c.call()
	p, err := k.PlanEvaluation(ctx, evaluation, query)
	if err == nil && p.ItemsForThreshold == 0 {
		err = fmt.Errorf("%s: %w", c.base, errFormat)
	}
	return p, k.raw, err
}
