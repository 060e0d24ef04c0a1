package scoring

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/judging/provider"
)

// TargetType is where outputs come from.
type TargetType string

// The types of targets.
const (
	TargetRecorded TargetType = "recorded" // the items have them
	TargetClient   TargetType = "client"   // the caller sends them
	TargetHTTP     TargetType = "http"     // an application is asked
	TargetModel    TargetType = "model"    // a model is asked
)

// Target is where outputs come from. Fields of other types are zero.
type Target struct {
	Type TargetType `json:"type"`

	// Of an application.
	URL       string `json:"url,omitzero"`
	SecretRef int64  `json:"secret_ref,omitzero"` // a provider key that is bound to the URL
	TimeoutMS int    `json:"timeout_ms,omitzero"`

	// Of a model: a provider key, or the name of a provider that needs none.
	ProviderKeyID int64          `json:"provider_key_id,omitzero"`
	Provider      string         `json:"provider,omitzero"`
	Model         string         `json:"model,omitzero"`
	Params        jsontext.Value `json:"params,omitzero"`
	Prompt        string         `json:"prompt,omitzero"`
	System        string         `json:"system,omitzero"`

	Concurrency int `json:"concurrency,omitzero"`
	// TraceWaitMS is how long a run waits at its end for the traces of its answers.
	TraceWaitMS int `json:"trace_wait_ms,omitzero"`
}

// Paid reports whether executing a unit costs time or money beyond our own.
func (t Target) Paid() bool { return t.Type == TargetHTTP || t.Type == TargetModel }

// Traced reports whether the answers may have traces of their own.
func (t Target) Traced() bool { return t.Type == TargetHTTP || t.Type == TargetClient }

// Check refuses a target that can never work.
func (t Target) Check(with *provider.Service) error {
	invalid := func(path, code, message string) error { return fault.Invalid("body", "/target/"+path, code, message) }
	switch t.Type {
	case TargetHTTP:
		if t.URL == "" {
			return invalid("url", "required", "is required for a target of type http")
		}
		if err := with.CheckURL(t.URL); err != nil {
			return invalid("url", "format", "cannot be called: "+err.Error())
		}
	case TargetModel:
		switch {
		case t.Model == "":
			return invalid("model", "required", "is required for a target of type model")
		case (t.ProviderKeyID == 0) == (t.Provider == ""):
			return invalid("providerKeyId", "one_of_required", "or provider is required, and not both: a provider key, or a provider that needs none")
		case t.Provider != "" && with.NeedsKey(t.Provider):
			return invalid("provider", "unknown_reference", "needs a key: create a provider key and give its id as providerKeyId")
		}
		if _, err := provider.ParseParams(t.Params); err != nil {
			return invalid("params", "format", err.Error())
		}
	}
	return nil
}
