package evaluation

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/httpapi"
)

type targetBody struct {
	_             struct{}        `nullable:"true"`
	Type          TargetType      `json:"type" enum:"recorded,client,http,model" default:"recorded" doc:"recorded: the items have outputs. client: the caller sends results. http: an application is asked. model: a model is asked."`
	URL           string          `json:"url,omitempty" maxLength:"2000" doc:"Of an application: gets a POST with input, context, test_case_id and run_id, answers with output."`
	SecretRef     httpapi.IDInput `json:"secretRef,omitempty" doc:"A provider key whose base URL is the application's; its secret is sent as a bearer token."`
	TimeoutMS     int             `json:"timeoutMs,omitempty" minimum:"100" maximum:"600000" doc:"How long one answer may take."`
	Concurrency   int             `json:"concurrency,omitempty" minimum:"1" maximum:"512" doc:"How many items are asked at once."`
	ProviderKeyID httpapi.IDInput `json:"providerKeyId,omitempty" doc:"Of a model: the provider key to ask with."`
	Provider      string          `json:"provider,omitempty" maxLength:"64" doc:"Of a model: a provider that needs no key, such as simulated."`
	Model         string          `json:"model,omitempty" maxLength:"200"`
	Params        httpapi.JSON    `json:"params,omitzero" doc:"Of a model: temperature, top_p, max_tokens, seed, stop, response_schema."`
	Prompt        string          `json:"prompt,omitempty" maxLength:"100000" doc:"Of a model: what it is asked. {{input}}, {{input.field}}, {{context}} and {{expected_output}} stand for the item; absent, the item's messages or its input are sent."`
	System        string          `json:"system,omitempty" maxLength:"100000" doc:"Of a model: the system prompt."`
}

type passRuleBody struct {
	_                struct{}  `nullable:"true"`
	MetricThresholds numberMap `json:"metricThresholds,omitempty" doc:"A score that each of these metrics must reach, or, where lower is better, not exceed."`
	Mode             PassMode  `json:"mode,omitempty" enum:"all,any,weighted" doc:"all or any of the thresholds; weighted: the weighted mean of the scores."`
	Weights          numberMap `json:"weights,omitempty" doc:"Weights of the metrics in the mean; absent metrics weigh nothing once there are any."`
	MinOverall       *float64  `json:"minOverall,omitempty" minimum:"0" maximum:"1" doc:"What the mean must reach; 0.5 if absent."`
}

type targetOut struct {
	Type          TargetType   `json:"type" enum:"recorded,client,http,model"`
	URL           string       `json:"url,omitempty"`
	SecretRef     *httpapi.ID  `json:"secret_ref,omitempty"`
	TimeoutMS     int          `json:"timeout_ms,omitzero"`
	Concurrency   int          `json:"concurrency,omitzero"`
	ProviderKeyID *httpapi.ID  `json:"provider_key_id,omitempty"`
	Provider      string       `json:"provider,omitempty"`
	Model         string       `json:"model,omitempty"`
	Params        httpapi.JSON `json:"params,omitzero"`
	Prompt        string       `json:"prompt,omitempty"`
	System        string       `json:"system,omitempty"`
}

type passRuleOut struct {
	MetricThresholds map[string]float64 `json:"metric_thresholds,omitempty"`
	Mode             PassMode           `json:"mode,omitempty"`
	Weights          map[string]float64 `json:"weights,omitempty"`
	MinOverall       *float64           `json:"min_overall,omitempty"`
}

func fromTarget(b *targetBody) Target {
	if b == nil {
		return Target{Type: TargetRecorded}
	}
	t := Target{
		Type: b.Type, URL: b.URL, SecretRef: int64(b.SecretRef), TimeoutMS: b.TimeoutMS, Concurrency: b.Concurrency,
		ProviderKeyID: int64(b.ProviderKeyID), Provider: b.Provider, Model: b.Model, Params: jsontext.Value(b.Params), Prompt: b.Prompt, System: b.System,
	}
	if t.Type == "" {
		t.Type = TargetRecorded
	}
	return t
}

func fromPassRule(b *passRuleBody) PassRule {
	if b == nil {
		return PassRule{}
	}
	return PassRule{Thresholds: b.MetricThresholds, Mode: b.Mode, Weights: b.Weights, MinOverall: b.MinOverall}
}

func toTarget(t Target) targetOut {
	return targetOut{
		Type: t.Type, URL: t.URL, SecretRef: toID(t.SecretRef), TimeoutMS: t.TimeoutMS, Concurrency: t.Concurrency, ProviderKeyID: toID(t.ProviderKeyID),
		Provider: t.Provider, Model: t.Model, Params: httpapi.JSON(t.Params), Prompt: t.Prompt, System: t.System,
	}
}

func toPassRule(r PassRule) passRuleOut {
	return passRuleOut{MetricThresholds: r.Thresholds, Mode: r.Mode, Weights: r.Weights, MinOverall: r.MinOverall}
}
