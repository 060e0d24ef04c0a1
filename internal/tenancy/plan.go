package tenancy

import (
	"errors"
	"fmt"
)

// Plan says how much an organization may use.
type Plan string

// The plans.
const (
	PlanFree       Plan = "free"
	PlanPro        Plan = "pro"
	PlanEnterprise Plan = "enterprise"
	PlanSelfHosted Plan = "self_hosted"
)

// PlanConfig is what organizations get when nobody says otherwise.
type PlanConfig struct {
	Default        string `setting:"default" default:"self_hosted" help:"Plan of new organizations: free, pro, enterprise or self_hosted."`
	SelfHostedHour int    `setting:"self_hosted_hour" default:"1000000" help:"Requests per hour and key on the self_hosted plan."`
	SpansHour      int    `setting:"spans_hour" default:"100000000" help:"Spans and log records per hour and key."`
	BytesHour      int    `setting:"bytes_hour" default:"1000000000000" help:"Bytes of telemetry per hour and key, after decompression."`
	EnterpriseHour int    `setting:"enterprise_hour" default:"100000" help:"Requests per hour and key on the enterprise plan, unless the organization has a custom limit."`
}

// Validate says what to change when the configuration cannot work.
func (c PlanConfig) Validate() error {
	var errs []error
	switch Plan(c.Default) {
	case PlanFree, PlanPro, PlanEnterprise, PlanSelfHosted:
	default:
		errs = append(errs, fmt.Errorf("default is %q: use free, pro, enterprise or self_hosted", c.Default))
	}
	for name, n := range map[string]int{"self_hosted_hour": c.SelfHostedHour, "enterprise_hour": c.EnterpriseHour, "spans_hour": c.SpansHour, "bytes_hour": c.BytesHour} {
		if n < 1 {
			errs = append(errs, fmt.Errorf("%s is %d: it must be 1 or more", name, n))
		}
	}
	return errors.Join(errs...)
}

// Plan is the plan of new organizations.
func (c PlanConfig) Plan() Plan { return Plan(c.Default) }

// orgFactor is how many times the limit of one key all keys of an organization
// have together, so that a key cannot raise its own limit by making others.
const orgFactor = 5

// orgLimit is how many requests an hour all keys of an organization may make.
func (c PlanConfig) orgLimit(p Plan, own int) int { return orgFactor * c.limit(p, own) }

// limit is how many requests an hour a key of the plan may make; own is the
// organization's own limit, zero if it has none.
func (c PlanConfig) limit(p Plan, own int) int {
	if own > 0 {
		return own
	}
	switch p {
	case PlanFree:
		return 100
	case PlanPro:
		return 1000
	case PlanEnterprise:
		return c.EnterpriseHour
	default:
		return c.SelfHostedHour
	}
}
