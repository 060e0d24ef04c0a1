package rule

import (
	"fmt"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// maxActive bounds the active rules of an organization: each one looks for traces
// every few seconds.
const maxActive = 50

// What callers are refused with.
var (
	ErrNotFound  = fault.New(fault.NotFound, "judge_rule_not_found", "The rule does not exist.")
	ErrKeyTaken  = fault.New(fault.Conflict, "already_exists", "A rule with this key already exists. Choose another key.")
	ErrConflict  = fault.New(fault.Conflict, "version_conflict", "The rule has changed since you read it. Read it again and repeat the change.")
	ErrInactive  = fault.New(fault.Conflict, "judge_not_active", "The rule's judge is not active. Set the status of the judge to active first.")
	ErrInUse     = fault.New(fault.Conflict, "in_use", "A back-fill of the rule is running. Cancel it first.")
	ErrManyRules = fault.New(fault.Conflict, "rule_limit", fmt.Sprintf("The organization has %d active rules, which is the limit. Pause one first.", maxActive))
)

// Period is the time that a rule's cap is for.
type Period string

// The periods.
const (
	PeriodMonth Period = "month" // each calendar month in UTC
	PeriodTotal Period = "total"
)

// Rule has a judge assess a share of the traces that match a filter.
type Rule struct {
	ID          int64
	Key         string // names the rule among those of the organization
	Name        string
	Description string
	Config      int64        // the judge
	Filter      trace.Filter // without times
	// SamplingKey and SampleRate decide which traces are chosen; rules with the same
	// key choose the same ones.
	SamplingKey string
	SampleRate  float64
	Status      Status
	CapNanoUSD  *int64 // nil without a limit
	CapPeriod   Period
	CreatedBy   principal.Actor
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Changes     int64

	activation int64
	cursor     cursor
	// Tally is what became of the traces; it is not part of what is audited.
	Tally Tally
}

// cursor is how far a rule has read the arrivals of traces.
type cursor struct {
	step        int64
	ended, idle trace.Arrival
	blocked     *Blocked
}

// Blocked is why the judge of an active rule cannot be asked.
type Blocked struct {
	Code, Message string
	At            time.Time
}

// purse is what the calls of a rule are paid from. A cap for a month is one on a
// purse of the month.
func (r Rule) purse(now time.Time) provider.Purse {
	p := provider.Purse{Kind: "judge_rule", ID: strconv.FormatInt(r.ID, 10), Name: fmt.Sprintf("the rule %q", r.Key), CapNanoUSD: unsigned(r.CapNanoUSD)}
	if r.CapPeriod == PeriodMonth {
		p.ID += "/" + now.UTC().Format("2006-01")
	}
	return p
}

func unsigned(n *int64) *uint64 {
	if n == nil {
		return nil
	}
	u := uint64(*n)
	return &u
}

// List selects rules; an empty field matches everything.
type List struct {
	Status []Status
	Key    string
	Config int64
	postgres.Page
}
