package record

import "github.com/assayhq/assay/internal/fault"

// What a caller sees of something that is not there, or is not as expected.
var (
	ErrNotFound        = fault.New(fault.NotFound, "evidence_not_found", "The record does not exist.")
	ErrVersionConflict = fault.New(fault.Conflict, "version_conflict", "The record has changed since you read it. Read it again and repeat the change.")
	ErrNoNormalization = fault.New(fault.NotFound, "normalization_not_found", "The normalization does not exist.")
)
