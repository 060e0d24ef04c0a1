package rule

import (
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
)

// Topics of the domain's promises.
const (
	TopicActivated = "judge_rule.activated"
	TopicBackfill  = "judge_backfill.started"
)

// The kinds of the domain's workflows.
const (
	KindRule     = "judge-rule"
	KindBackfill = "judge-backfill"
)

// Ticket is an activation of a rule.
type Ticket struct {
	Org        principal.OrgID `json:"org"`
	Rule       int64           `json:"rule"`
	Activation int64           `json:"activation"`
}

// WorkflowID names the workflow of the activation.
func (t Ticket) WorkflowID() string {
	return fmt.Sprintf("%s:%s:%d:%d", KindRule, t.Org, t.Rule, t.Activation)
}

// BackfillTicket is a back-fill.
type BackfillTicket struct {
	Org      principal.OrgID `json:"org"`
	Backfill int64           `json:"backfill"`
}

// WorkflowID names the workflow of the back-fill.
func (t BackfillTicket) WorkflowID() string {
	return fmt.Sprintf("%s:%s:%d", KindBackfill, t.Org, t.Backfill)
}
