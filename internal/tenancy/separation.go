package tenancy

import (
	"cmp"
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// The separation of duties: who counts as the requester of an approval.
const (
	SeparationOff       = "off"
	SeparationRequester = "requester"
	SeparationKeyOwner  = "key_owner"
)

// strictness orders the settings.
var strictness = map[string]int{SeparationOff: 0, SeparationRequester: 1, SeparationKeyOwner: 2}

// proposalTime is how long a second person has to agree.
const proposalTime = 7 * 24 * time.Hour

// Separation is the separation of duties that is in force.
func (s Settings) Separation() string { return cmp.Or(s.SeparationOfDuties, SeparationRequester) }

// separateTx changes the separation of duties. One person makes it stricter; to relax it takes
// two, so that nobody can turn it off, approve what they asked for, and turn it on again.
func (s *Service) separateTx(ctx context.Context, tx postgres.Tx, o *Organization, value string) error {
	was, now := o.Settings.Separation(), s.now()
	value = cmp.Or(value, SeparationRequester)
	if strictness[value] >= strictness[was] {
		o.Settings.SeparationOfDuties, o.Settings.SeparationProposal = value, nil
		return nil
	}
	if err := principal.RequirePerson(ctx); err != nil {
		return err
	}
	me, p := *principal.From(ctx).User, o.Settings.SeparationProposal
	if p == nil || p.Value != value || now.Sub(p.At) >= proposalTime {
		o.Settings.SeparationProposal = &Proposal{Value: value, By: me, At: now}
		return nil
	}
	inviters, err := InvitersTx(ctx, tx, me, p.By)
	if err == nil && !inviters.OneHand(me, p.By) {
		o.Settings.SeparationOfDuties, o.Settings.SeparationProposal = value, nil
	}
	return err
}
