package cli

import (
	"fmt"
	"strconv"

	"github.com/assayhq/assay/internal/command/cli/approval"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type approvalsCommand struct {
	List    approvalsListCommand   `cmd:"" help:"List approvals, newest first."`
	Show    approvalsShowCommand   `cmd:"" help:"Show what is asked for, and who has decided."`
	Approve approvalApproveCommand `cmd:"" help:"Agree to an action."`
	Reject  approvalRejectCommand  `cmd:"" help:"Refuse an action."`
}

type approvalsListCommand struct {
	remote
	State string `enum:"pending,approved,rejected,expired,cancelled,consumed,revoked" default:"pending" help:"State of the approvals (default: pending)." placeholder:"STATE"`
	listFlags
}

// Run prints the list.
func (c approvalsListCommand) Run(e *Environment) error {
	q := c.query()
	q.Set("state", c.State)
	var page api.EvidenceList
	return unknown(c.call(e, c.JSON, func(k api.Client) (err error) { page, err = k.ListEvidence(e.Context, "approvals", q); return err },
		func(raw []byte) error {
			list, err := approval.List(raw, more(page.HasMore))
			if err != nil {
				return err
			}
			return terminal.Detect(e.Out, e.Environ).List(e.Out, list)
		}))
}

// approvalArg names an approval.
type approvalArg struct {
	Approval int64 `arg:"" help:"ID of the approval."`
	remote
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

func (c approvalArg) id() string { return strconv.FormatInt(c.Approval, 10) }

type approvalsShowCommand struct{ approvalArg }

// Run prints the approval.
func (c approvalsShowCommand) Run(e *Environment) error {
	return unknown(c.call(e, c.JSON, func(k api.Client) error { _, err := k.GetEvidence(e.Context, "approvals", c.id()); return err },
		func(raw []byte) error {
			a, err := approval.Read(raw)
			if err != nil {
				return err
			}
			return approval.Draw(e.Out, a)
		}))
}

type approvalApproveCommand struct {
	approvalArg
	Comment   string `help:"Reason for the decision." placeholder:"TEXT"`
	MaxAmount string `help:"Largest amount that is approved, such as 100.00." placeholder:"AMOUNT"`
}

// Run agrees.
func (c approvalApproveCommand) Run(e *Environment) error {
	return c.decide(e, api.UpdateApproval{Decision: new("approved"), Comment: &c.Comment, Constraints: &api.ApprovalConstraints{MaxAmount: &c.MaxAmount}})
}

type approvalRejectCommand struct {
	approvalArg
	Comment string `required:"" help:"Reason for the decision." placeholder:"TEXT"`
}

// Run refuses.
func (c approvalRejectCommand) Run(e *Environment) error {
	return c.decide(e, api.UpdateApproval{Decision: new("rejected"), Comment: &c.Comment})
}

func (c approvalArg) decide(e *Environment, in api.UpdateApproval) error {
	return unknown(c.call(e, c.JSON, func(k api.Client) error { _, err := k.UpdateApproval(e.Context, c.id(), in); return err },
		func(raw []byte) error {
			a, err := approval.Read(raw)
			if err == nil {
				_, err = fmt.Fprintln(e.Out, a.Outcome())
			}
			return err
		}))
}
