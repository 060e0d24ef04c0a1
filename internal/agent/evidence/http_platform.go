package evidence

import (
	"bytes"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/httpapi"
)

// ApprovalBody is an approval on the wire, for the domain that decides on it.
type ApprovalBody recordBody

// ToApprovalBody writes an approval.
func ToApprovalBody(r *Record) ApprovalBody { return ApprovalBody(toRecordBody(r)) }

// MarshalJSON writes the record as it is.
func (b ApprovalBody) MarshalJSON() ([]byte, error) { return b, nil }

// UnmarshalJSON keeps the record as it is.
func (b *ApprovalBody) UnmarshalJSON(text []byte) error {
	*b = bytes.Clone(text)
	return nil
}

// Schema documents approvals.
func (ApprovalBody) Schema(r huma.Registry) *huma.Schema { return schemaRef(r, kind.Approvals) }

// DecisionBody is a policy decision on the wire, for the domain that makes it.
type DecisionBody recordBody

// ToDecisionBody writes a decision.
func ToDecisionBody(r *Record) DecisionBody { return DecisionBody(toRecordBody(r)) }

// MarshalJSON writes the record as it is.
func (b DecisionBody) MarshalJSON() ([]byte, error) { return b, nil }

// UnmarshalJSON keeps the record as it is.
func (b *DecisionBody) UnmarshalJSON(text []byte) error {
	*b = bytes.Clone(text)
	return nil
}

// Schema documents policy decisions.
func (DecisionBody) Schema(r huma.Registry) *huma.Schema { return schemaRef(r, kind.PolicyDecisions) }

func schemaRef(r huma.Registry, name kind.Name) *huma.Schema {
	k := kind.Must(name)
	return httpapi.Named(r, schemaName(k), schemaOf(k))
}
