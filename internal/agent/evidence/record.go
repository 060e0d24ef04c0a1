package evidence

import (
	"strconv"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/core/fault"
)

// What a caller sees of a record that is not there, or is not as expected.
var (
	ErrUnknownResource = fault.New(fault.NotFound, "unknown_resource", "There is no such kind of evidence. GET /api/agent-evidence lists the kinds.")
	ErrNotFound        = record.ErrNotFound
	ErrVersionConflict = record.ErrVersionConflict
	// ErrTooManyRequesters is returned where it matters who asked for an action, and too many did.
	ErrTooManyRequesters = record.ErrTooManyRequesters
	ErrNoNormalization   = record.ErrNoNormalization
	ErrKeyReused         = fault.New(fault.Conflict, "idempotency_key_reused", "This idempotencyKey was used for a record with other content. Use a new key for a new record.")
	ErrNotWritable       = fault.New(fault.Forbidden, "kind_not_writable", "Records of this kind are made by an action, and cannot be posted.")
	ErrNotChangeable     = fault.New(fault.Forbidden, "kind_not_changeable", "Records of this kind cannot be changed here.")
	ErrTransition        = fault.New(fault.Conflict, "invalid_transition", "The record cannot change to that state from its current one.")
)

// MaxRequesters is how many different callers may ask for an action that needs an approval.
const MaxRequesters = record.MaxRequesters

type (
	// Record is a record of evidence.
	Record = record.Record
	// Links are what a record belongs to.
	Links = record.Links
	// List selects records of a kind.
	List = record.List

	key      = record.Key
	identity = record.Identity
)

// Location is the path of a record.
func Location(r *Record) string {
	return "/api/agent-evidence/" + string(r.Kind.Name) + "/" + strconv.FormatInt(r.ID, 10)
}
