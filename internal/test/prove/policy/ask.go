package policy

import (
	"context"
	"fmt"
	"net/http"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

const (
	evaluate  = "/api/agent-evidence/policy/evaluate"
	approvals = "/api/agent-evidence/approvals"
)

// decision is what the policies say.
type decision struct {
	ID         int64  `json:"id"`
	Decision   string `json:"decision"`
	ApprovalID int64  `json:"approval_id"`
	Reasons    []struct {
		Code string `json:"code"`
	} `json:"reasons"`
}

// codes are the codes of its reasons.
func (d decision) codes() (all []string) {
	for _, r := range d.Reasons {
		all = append(all, r.Code)
	}
	return all
}

// refund is a question about a refund.
func refund(order, amount string, more map[string]any) map[string]any {
	out := map[string]any{
		"runtimeKey":     "refund-agent",
		"toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "refund", "arguments": map[string]any{"order": order, "amount": amount, "currency": "EUR"}},
	}
	for name, value := range more {
		out[name] = value
	}
	return out
}

// state is the state of an approval.
func (s *system) state(ctx context.Context, o rig.Organization, id int64) (state string, uses int, err error) {
	var out struct {
		State string `json:"state"`
		Uses  int    `json:"uses"`
	}
	err = s.Insist(ctx, o, http.MethodGet, fmt.Sprintf("%s/%d", approvals, id), "", nil, &out)
	return out.State, out.Uses, err
}
