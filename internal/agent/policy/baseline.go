package policy

import _ "embed"

// baselineText is what a new organization begins with.
//
//go:embed baseline.cedar
var baselineText string

// baseline is the policy that a new organization begins with.
func baseline() Policy {
	return Policy{Key: "baseline", Name: "Baseline", State: StateActive, Spec: Spec{Mode: ModeEnforce, Source: baselineText}}
}
