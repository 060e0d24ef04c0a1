package evaluation

import (
	"github.com/assayhq/assay/internal/plan"
	"github.com/assayhq/assay/internal/provider"
	"github.com/assayhq/assay/internal/result"
)

// outcome scores what a target said.
func (e *chunk) outcome(j job, a provider.Answer, f *provider.Failure, tries []provider.Attempt) result.Outcome {
	o := result.Outcome{
		Key: result.Key{Item: j.item, Epoch: j.epoch}, Cluster: plan.Cluster(j.content, e.run.Request.ClusterKey), Weight: j.content.Weight,
		Output: a.Output, ToolCalls: a.ToolsJSON, Trace: a.Trace, Duration: a.Took, CostNanoUSD: a.CostNanoUSD,
		InputTokens: a.Usage.Input, OutputTokens: a.Usage.Output, Calls: a.Calls,
	}
	copy(o.Content[:], j.content.Digest[:])
	if len(tries) > 0 {
		o.Attempts = encode(tries)
	}
	if f != nil {
		// What an attempt before this one may have stored is replaced whole.
		o.Status, o.ErrorCode, o.ErrorMessage, o.Scores = result.StatusErrored, f.Code, f.Message, plan.Unscored(e.measures)
		return o
	}
	plan.Assess(&o, e.run.Request.Plan.PassRule, e.measures, plan.CaseOf(j.content, a), nil)
	return o
}
