package record

import "github.com/assayhq/assay/internal/core/fault"

// What a caller sees of something that is not there, or is not as expected.
var (
	ErrNotFound        = fault.New(fault.NotFound, "evidence_not_found", "The record does not exist.")
	ErrVersionConflict = fault.New(fault.Conflict, "version_conflict", "The record has changed since you read it. Read it again and repeat the change.")
	// ErrTooManyRequesters is returned where it matters who asked for an action, and too many did.
	ErrTooManyRequesters = fault.New(fault.Conflict, "too_many_requesters", "So many requests name this action that it is not known who asked for it. Reject or cancel the pending request, and describe the action differently.")
	ErrNoNormalization   = fault.New(fault.NotFound, "normalization_not_found", "The normalization does not exist.")
)
