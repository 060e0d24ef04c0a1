package scoring

import (
	"github.com/assayhq/assay/internal/httpapi"
)

// TargetInput is a target as requests have it.
type TargetInput struct {
	_             struct{}         `nullable:"true"`
	Type          TargetType       `json:"type" enum:"recorded,client,http,model" default:"recorded" doc:"recorded: the items have outputs. client: the caller sends results. http: an application is called. model: a model is called."`
	URL           string           `json:"url,omitempty" maxLength:"2000" doc:"http: the application. It receives a POST with input, context, test_case_id and run_id, and answers with output."`
	SecretRef     *httpapi.IDInput `json:"secretRef,omitempty" doc:"http: a provider key whose base URL is the application's; its secret is sent as a bearer token."`
	TimeoutMS     int              `json:"timeoutMs,omitempty" minimum:"100" maximum:"600000" doc:"Time limit for one answer, in milliseconds."`
	Concurrency   int              `json:"concurrency,omitempty" minimum:"1" maximum:"512" doc:"Number of items worked on at once."`
	TraceWaitMS   int              `json:"traceWaitMs,omitempty" minimum:"0" maximum:"120000" doc:"http, client: how long the run waits at its end for the traces of its answers, in milliseconds. Traces complete the results by cost, tokens, tool calls, side effects and scores. If absent, those that have arrived by then do."`
	ProviderKeyID *httpapi.IDInput `json:"providerKeyId,omitempty" doc:"model: the provider key to call with."`
	Provider      string           `json:"provider,omitempty" maxLength:"64" doc:"model: a provider that needs no key, such as simulated."`
	Model         string           `json:"model,omitempty" maxLength:"200" doc:"model: the provider's name of the model."`
	Params        httpapi.Object   `json:"params,omitempty" doc:"model: temperature, top_p, max_tokens, seed, stop, response_schema."`
	Prompt        string           `json:"prompt,omitempty" maxLength:"100000" doc:"model: the prompt. {{input}}, {{input.field}}, {{context}} and {{expected_output}} are replaced from the item; absent, the item's messages or its input are sent."`
	System        string           `json:"system,omitempty" maxLength:"100000" doc:"model: the system prompt."`
}

// PassRuleInput is a pass rule as requests have it.
type PassRuleInput struct {
	_                struct{}           `nullable:"true"`
	MetricThresholds map[string]float64 `json:"metricThresholds,omitempty" doc:"Score that each of these metrics must reach or, where lower is better, not exceed."`
	Mode             PassMode           `json:"mode,omitempty" enum:"all,any,weighted" doc:"all or any: of the thresholds must hold. weighted: the weighted mean of the scores decides."`
	Weights          map[string]float64 `json:"weights,omitempty" doc:"Weights of metrics in the mean; if there are any, metrics without one do not count."`
	MinOverall       *float64           `json:"minOverall,omitempty" minimum:"0" maximum:"1" doc:"Value that the mean must reach; 0.5 if absent."`
}

// TargetOutput is a target as responses have it.
type TargetOutput struct {
	Type          TargetType     `json:"type" enum:"recorded,client,http,model" doc:"recorded: the items have outputs. client: the caller sends results. http: an application is called. model: a model is called."`
	URL           *string        `json:"url" doc:"http: the application; otherwise null."`
	SecretRef     *int64         `json:"secret_ref" doc:"http: the provider key whose secret is sent as a bearer token; null if there is none."`
	TimeoutMS     *int           `json:"timeout_ms" doc:"Time limit for one answer, in milliseconds; null for the default."`
	Concurrency   *int           `json:"concurrency" doc:"Number of items worked on at once; null for the default."`
	TraceWaitMS   *int           `json:"trace_wait_ms" doc:"http, client: how long the run waits at its end for the traces of its answers, in milliseconds; null if it does not wait."`
	ProviderKeyID *int64         `json:"provider_key_id" doc:"model: the provider key to call with; null if there is none."`
	Provider      *string        `json:"provider" doc:"model: a provider that needs no key; otherwise null."`
	Model         *string        `json:"model" doc:"model: the provider's name of the model; otherwise null."`
	Params        httpapi.Object `json:"params" doc:"model: parameters of the call."`
	Prompt        *string        `json:"prompt" doc:"model: the prompt; null if the item's messages or its input are sent."`
	System        *string        `json:"system" doc:"model: the system prompt; null if there is none."`
}

// PassRuleOutput is a pass rule as responses have it.
type PassRuleOutput struct {
	MetricThresholds map[string]float64 `json:"metric_thresholds" doc:"Score that each of these metrics must reach or, where lower is better, not exceed."`
	Mode             *PassMode          `json:"mode" enum:"all,any,weighted" doc:"all or any: of the thresholds must hold. weighted: the weighted mean of the scores decides. null: all thresholds if there are any, otherwise the mean."`
	Weights          map[string]float64 `json:"weights" doc:"Weights of metrics in the mean; if there are any, metrics without one do not count."`
	MinOverall       *float64           `json:"min_overall" doc:"Value that the mean must reach; null for 0.5."`
}

// FromTarget reads a target; none is that outputs are recorded.
func FromTarget(b *TargetInput) Target {
	if b == nil {
		return Target{Type: TargetRecorded}
	}
	t := Target{
		Type: b.Type, URL: b.URL, SecretRef: fromID(b.SecretRef), TimeoutMS: b.TimeoutMS, Concurrency: b.Concurrency, TraceWaitMS: b.TraceWaitMS,
		ProviderKeyID: fromID(b.ProviderKeyID), Provider: b.Provider, Model: b.Model, Prompt: b.Prompt, System: b.System,
	}
	if params := b.Params.Text(); string(params) != "{}" {
		t.Params = params
	}
	if t.Type == "" {
		t.Type = TargetRecorded
	}
	return t
}

func fromID(id *httpapi.IDInput) int64 {
	if id == nil {
		return 0
	}
	return int64(*id)
}

// FromPassRule reads a pass rule. It makes no difference between nothing and an empty object.
func FromPassRule(b *PassRuleInput) PassRule {
	if b == nil {
		return PassRule{}
	}
	r := PassRule{Mode: b.Mode, MinOverall: b.MinOverall}
	if len(b.MetricThresholds) > 0 {
		r.Thresholds = b.MetricThresholds
	}
	if len(b.Weights) > 0 {
		r.Weights = b.Weights
	}
	return r
}

// ToTarget shows a target.
func ToTarget(t Target) TargetOutput {
	return TargetOutput{
		Type: t.Type, URL: httpapi.OrNull(t.URL), SecretRef: httpapi.OrNull(t.SecretRef), TimeoutMS: httpapi.OrNull(t.TimeoutMS),
		Concurrency: httpapi.OrNull(t.Concurrency), TraceWaitMS: httpapi.OrNull(t.TraceWaitMS), ProviderKeyID: httpapi.OrNull(t.ProviderKeyID), Provider: httpapi.OrNull(t.Provider),
		Model: httpapi.OrNull(t.Model), Params: httpapi.Object(t.Params), Prompt: httpapi.OrNull(t.Prompt), System: httpapi.OrNull(t.System),
	}
}

// ToPassRule shows a pass rule.
func ToPassRule(r PassRule) PassRuleOutput {
	return PassRuleOutput{MetricThresholds: r.Thresholds, Mode: httpapi.OrNull(r.Mode), Weights: r.Weights, MinOverall: r.MinOverall}
}
