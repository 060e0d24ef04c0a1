package judge

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// cause is something that ends a case however often it is tried, and the reason that
// its verdict must have.
type cause struct {
	name, code string
	rule       simulated.Rule
	output     string // instead of the usual one
}

const alwaysHangs = "case-hang-"

var causes = []cause{
	{name: "hang", code: "timeout", rule: simulated.Rule{Fault: simulated.FaultHang, Contains: alwaysHangs}},
	{name: "limit", code: "rate_limited", rule: simulated.Rule{Fault: simulated.FaultRateLimit, Contains: "case-limit-", RetryAfter: 200_000_000}},
	{name: "quota", code: "exhausted", rule: simulated.Rule{Fault: simulated.FaultQuota, Contains: "case-quota-"}},
	{name: "unauthorized", code: "unauthorized", rule: simulated.Rule{Fault: simulated.FaultUnauthorized, Contains: "case-unauthorized-"}},
	{name: "invalid", code: "invalid", rule: simulated.Rule{Fault: simulated.FaultError, Contains: "case-invalid-", Status: 400}},
	{name: "reset", code: "unavailable", rule: simulated.Rule{Fault: simulated.FaultDisconnect, Contains: "case-reset-"}},
	{name: "down", code: "unavailable", rule: simulated.Rule{Fault: simulated.FaultError, Contains: "case-down-", Status: 502}},
	{name: "half", code: "malformed", rule: simulated.Rule{Fault: simulated.FaultMalformed, Contains: "case-half-"}},
	{name: "page", code: "malformed", rule: simulated.Rule{Fault: simulated.FaultHTML, Contains: "case-page-"}},
	{name: "refuse", code: "refused", rule: simulated.Rule{Fault: simulated.FaultRefusal, Contains: "case-refuse-"}},
	{name: "none", code: "no_output", output: " "},
}

// reasons judges cases that cannot be judged, all at once, each with a key of its
// own: a provider that wants fewer calls would slow the others.
func (s *system) reasons(ctx context.Context) error {
	org, err := s.Bootstrap(ctx, "Reasons")
	if err != nil {
		return err
	}
	var g errgroup.Group
	for _, c := range causes {
		g.Go(func() error {
			if err := s.reason(ctx, org, c); err != nil {
				return fmt.Errorf("reason %s: %w", c.name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

func (s *system) reason(ctx context.Context, org rig.Organization, c cause) error {
	key, err := s.providerKey(ctx, org, c.name, "only-for-proofs")
	if err != nil {
		return err
	}
	id, err := s.judge(ctx, org, c.name, key, nil)
	if err != nil {
		return err
	}
	u := unit{name: "case-" + c.name + "-0", kind: kind{mark: "[[score:1]]", status: "failed", code: c.code}}
	output := u.output()
	if c.output != "" {
		output = c.output
	}
	var r api.JudgeResult
	if err := s.Post(ctx, org, "/api/llm-judge/evaluate", c.name, map[string]any{"configId": id, "input": u.input(), "output": output}, &r); err != nil {
		return err
	}
	if r.Error == nil {
		return errors.New("it has no reason")
	}
	if why := u.wrong(r.Status, r.Score, r.Error.Code); why != "" || r.Error.Message == "" {
		return errors.New(why + ": " + r.Error.Message)
	}
	return nil
}
