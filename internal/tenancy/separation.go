package tenancy

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/fault"
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

// ErrRelaxInPerson is returned when a key that is not a person's asks for less separation.
var ErrRelaxInPerson = fault.New(fault.Forbidden, "not_a_person", "Only people can relax the separation of duties. Use a personal key, without X-On-Behalf-Of.")

// proposalTime is how long a second person has to agree.
const proposalTime = 7 * 24 * time.Hour

// Separation is the separation of duties that is in force.
func (s Settings) Separation() string { return cmp.Or(s.SeparationOfDuties, SeparationRequester) }

// PeopleTx are the people who may be behind the caller: the owner of a personal key and, if
// somebody else made the key, whoever that was.
func (s *Service) PeopleTx(ctx context.Context, tx postgres.Tx) ([]uuid.UUID, error) {
	c := principal.From(ctx)
	if c.User == nil {
		return nil, nil
	}
	people := []uuid.UUID{*c.User}
	if !c.Asserted {
		return people, nil
	}
	lineage, err := s.LineageTx(ctx, tx, c.Key)
	for _, m := range lineage.People(c.Key) {
		if !slices.Contains(people, m) {
			people = append(people, m)
		}
	}
	return people, err
}

// separate changes the separation of duties. One person makes it stricter; to relax it takes
// two, so that nobody can turn it off, approve what they asked for, and turn it on again.
func (o *Organization) separate(value string, c principal.Caller, people []uuid.UUID, now time.Time) error {
	was := o.Settings.Separation()
	value = cmp.Or(value, SeparationRequester)
	if strictness[value] >= strictness[was] {
		o.Settings.SeparationOfDuties, o.Settings.SeparationProposal = value, nil
		return nil
	}
	if c.User == nil || c.ActsFor {
		return ErrRelaxInPerson
	}
	p := o.Settings.SeparationProposal
	second := p != nil && p.Value == value && now.Sub(p.At) < proposalTime && !slices.ContainsFunc(people, func(u uuid.UUID) bool { return slices.Contains(p.People, u) })
	if second {
		o.Settings.SeparationOfDuties, o.Settings.SeparationProposal = value, nil
		return nil
	}
	if p == nil || p.Value != value || now.Sub(p.At) >= proposalTime {
		o.Settings.SeparationProposal = &Proposal{Value: value, By: *c.User, At: now, People: people}
	}
	return nil
}
