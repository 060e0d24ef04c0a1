package dataset

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrNotFound is returned when the organization has no such dataset.
var ErrNotFound = fault.New(fault.NotFound, "dataset_not_found", "The dataset does not exist.")

// ErrVersionConflict is returned when the dataset has changed since the caller
// read it.
var ErrVersionConflict = fault.New(fault.Conflict, "version_conflict", "The dataset has changed since you read it. Read it again and repeat the change.")

// ErrInUse is returned when a dataset that someone holds is to be deleted.
var ErrInUse = fault.New(fault.Conflict, "in_use", "The dataset is in use by a running evaluation or by the watch of a judge. Wait for it to end, or stop it.")

// Purpose says what a dataset is for.
type Purpose string

// The purposes.
const (
	PurposeGeneral     Purpose = "general"
	PurposeGolden      Purpose = "golden"
	PurposeCalibration Purpose = "calibration"
	PurposeRegression  Purpose = "regression"
)

// Dataset is a named collection of items.
type Dataset struct {
	ID          int64
	Name        string
	Description string
	Purpose     Purpose
	// Schema is a JSON Schema that each item must satisfy; nil means none.
	Schema    jsontext.Value
	Status    Status
	Tags      []string
	Metadata  jsontext.Value
	ItemCount int64
	// ContentDigest names the items as they are now.
	ContentDigest Digest
	LatestVersion int
	// Version counts changes of the dataset itself, not of its items.
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Filter selects datasets; an empty field matches everything, and a list
// matches any of its values.
type Filter struct {
	Status        []Status
	Purpose       []Purpose
	Tag           string
	Search        string
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
	postgres.Page
}
