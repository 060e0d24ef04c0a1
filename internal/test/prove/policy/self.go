package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// asker is a way to ask for an action.
type asker struct {
	name string
	key  held
	opts []api.Option
	more map[string]any
	asks []string // the people who ask
}

// hand is a key to approve with.
type hand struct {
	name string
	key  held
	// nobody is true if the key's owner did not make it: whoever has it is no person.
	nobody bool
}

// same reports whether whoever asks may be who approves. It goes by who has seen which key,
// and does not know how the product finds that out.
func same(a asker, h hand, separation string) bool {
	return overlap(h.key.people, a.asks) || separation == "key_owner" && overlap(h.key.people, a.key.people) ||
		overlap(h.key.machines, a.key.asks)
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// cast are all ways to ask, and all hands. The first two hands are ann's.
func (s *system) cast(ctx context.Context, t tenant) (askers []asker, hands []hand, err error) {
	ann, bob := t.ann.id, t.bob.id
	m := &mint{system: s}
	service := held{rig: t.Organization, machines: []string{"the service"}, asks: []string{"the service"}}
	anns, bobs := held{rig: t.ann.Organization, people: []string{ann}}, held{rig: t.bob.Organization, people: []string{bob}}

	agent := m.machine(ctx, anns, "ann's agent")
	helper := m.machine(ctx, agent, "a helper of ann's agent")
	second := m.person(ctx, anns, "ann's second key", ann)
	puppet := m.person(ctx, agent, "a key for bob, made with ann's agent", bob, rig.OnBehalfOf(bob))
	minted := m.person(ctx, service, "a key for bob, made with the service key", bob, rig.OnBehalfOf(bob))
	anns2 := m.person(ctx, service, "a key for ann, made with the service key", ann, rig.OnBehalfOf(ann))
	provisioned := m.machine(ctx, anns2, "an agent of ann's, made with that key")
	sibling := m.machine(ctx, service, "a worker of the service")
	other := m.machine(ctx, anns, "another agent of ann's")
	others := m.person(ctx, other, "a key for bob, made with another agent of ann's", bob, rig.OnBehalfOf(bob))
	turned := m.rotate(ctx, anns, other)
	maker := m.machine(ctx, service, "a maker of keys")
	makers := m.person(ctx, maker, "a key for bob, made with the maker of keys", bob, rig.OnBehalfOf(bob))
	made := m.machine(ctx, maker, "a worker of the maker of keys")
	turnedMaker := m.rotate(ctx, maker, maker)
	askers = []asker{
		{name: "a service key", key: service},
		{name: "a worker of the service", key: sibling},
		{name: "ann's agent", key: agent},
		{name: "a helper of ann's agent", key: helper},
		{name: "another agent of ann's", key: other},
		{name: "another agent of ann's after ann rotated its key", key: turned},
		{name: "a maker of keys after it rotated its key", key: turnedMaker},
		{name: "a worker of the maker of keys", key: made},
		{name: "an agent of ann's, whose key the service made", key: provisioned},
		{name: "ann with a key that the service made", key: anns2, asks: []string{ann}},
		{name: "ann", key: anns, asks: []string{ann}},
		{name: "ann's second key", key: second, asks: []string{ann}},
		{name: "a service key on behalf of ann", key: service, opts: []api.Option{rig.OnBehalfOf(ann)}, asks: []string{ann}},
		{name: "ann's agent on behalf of bob", key: agent, opts: []api.Option{rig.OnBehalfOf(bob)}, asks: []string{bob}},
		{name: "a service key that names ann", key: service, more: map[string]any{"subjectUser": ann}, asks: []string{ann}},
		{name: "a service key that names ann's address", key: service, more: map[string]any{"subjectUser": " " + t.ann.email}, asks: []string{ann}},
		{name: "bob, who names ann", key: bobs, more: map[string]any{"subjectUser": ann}, asks: []string{ann, bob}},
	}
	hands = []hand{
		{name: "ann", key: anns},
		{name: "ann's second key", key: second},
		{"a key for bob, made with ann's agent", puppet, true},
		{name: "bob", key: bobs},
		{"a key for bob, made with the service key", minted, true},
		{"a key for bob, made with another agent of ann's", others, true},
		{"a key for bob, made with the maker of keys", makers, true},
	}
	return askers, hands, m.err
}

// approveOwn has everybody ask in every way and approve with every hand, under every
// setting, and counts the approvals that one of those who asked has given.
func (s *system) approveOwn(ctx context.Context) (own int, err error) {
	tried, given, refused := 0, 0, 0
	for i, separation := range []string{"requester", "key_owner"} {
		t := s.tenants[i]
		if err := s.Insist(ctx, t.ann.Organization, http.MethodPatch, "/api/organizations/current", "separation "+s.Removed, map[string]any{"separationOfDuties": separation}, nil); err != nil {
			return 0, err
		}
		askers, hands, err := s.cast(ctx, t)
		if err != nil {
			return 0, err
		}
		if err := s.relaxAlone(ctx, hands[:2]); err != nil {
			return 0, err
		}
		for _, a := range askers {
			for _, h := range hands {
				for _, posted := range []bool{false, true} {
					tried++
					ok, err := s.approves(ctx, fmt.Sprintf("%s %d %s", separation, tried, s.Removed), a, h, posted)
					if err != nil {
						return 0, fmt.Errorf("%s asks, %s approves, %s, posted %t: %w", a.name, h.name, separation, posted, err)
					}
					self := h.nobody || same(a, h, separation)
					switch {
					case ok && self:
						own++
						rig.Say("%s asked and %s approved, under %s, posted %t", a.name, h.name, separation, posted)
					case ok:
						given++
					case !self:
						refused++
						rig.Say("%s asked and %s could not approve, under %s, posted %t", a.name, h.name, separation, posted)
					}
				}
			}
		}
		mine := hands[:2]
		if separation == "key_owner" {
			mine = hands[:3]
		}
		twice, err := s.twoHands(ctx, t, mine)
		if err != nil {
			return 0, err
		}
		own += twice
	}
	rig.Say("self-approvals tried %d, given to others %d, self-approved %d", tried, given, own)
	if given == 0 || refused > 0 {
		return 0, fmt.Errorf("of those who did not ask, %d could approve and %d could not", given, refused)
	}
	return own, nil
}

// relaxAlone has one person, with several keys, try to end the separation.
func (s *system) relaxAlone(ctx context.Context, hands []hand) error {
	for _, h := range hands {
		var out struct {
			Separation string `json:"separation_of_duties"`
		}
		err := s.Insist(ctx, h.key.rig, http.MethodPatch, "/api/organizations/current", fmt.Sprintf("relax %s %s", h.name, s.Removed), map[string]any{"separationOfDuties": "off"}, &out)
		if err != nil && !refused(err) {
			return err
		}
		if err == nil && out.Separation == "off" {
			return fmt.Errorf("%s ended the separation of duties alone", h.name)
		}
	}
	return nil
}

// refused reports whether an answer says no.
func refused(err error) bool {
	var no *rig.Refusal
	return errors.As(err, &no) && no.Status < http.StatusInternalServerError
}

// approves reports whether an action that somebody asks for is allowed after somebody
// approved it.
func (s *system) approves(ctx context.Context, order string, a asker, h hand, posted bool) (bool, error) {
	var d decision
	asks := map[string]any{}
	maps.Copy(asks, a.more)
	if posted {
		asks["mode"] = "dry_run"
	}
	if err := s.Insist(ctx, a.key.rig, http.MethodPost, evaluate, "ask "+order, refund(order, "1.00", asks), &d, a.opts...); err != nil {
		return false, err
	}
	if posted { // the request and the use no longer say who asked
		var made struct {
			ID int64 `json:"id"`
		}
		if err := s.Insist(ctx, a.key.rig, http.MethodPost, approvals, "request "+order, map[string]any{"title": "A refund", "reason": "Asked before.", "policyDecisionId": d.ID}, &made); err != nil {
			return false, err
		}
		d.ApprovalID, a.more, a.opts = made.ID, nil, nil
	}
	if d.ApprovalID == 0 {
		return false, fmt.Errorf("the decision is %s", d.Decision)
	}
	err := s.Insist(ctx, h.key.rig, http.MethodPatch, fmt.Sprintf("%s/%d", approvals, d.ApprovalID), "approve "+order, map[string]any{"decision": "approved"}, nil)
	var no *rig.Refusal
	if errors.As(err, &no) && no.Status == http.StatusForbidden {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	more := map[string]any{"approvalId": d.ApprovalID}
	maps.Copy(more, a.more)
	if err := s.Insist(ctx, a.key.rig, http.MethodPost, evaluate, "use "+order, refund(order, "1.00", more), &d, a.opts...); err != nil {
		return false, err
	}
	return d.Decision == "allow", nil
}

// twoHands has one person give two votes, with several keys.
func (s *system) twoHands(ctx context.Context, t tenant, hands []hand) (own int, err error) {
	var d decision
	order := "two hands " + s.Removed
	if err := s.Insist(ctx, t.Organization, http.MethodPost, evaluate, "ask "+order, refund(order, "1.00", nil), &d); err != nil {
		return 0, err
	}
	var made struct {
		ID int64 `json:"id"`
	}
	if err := s.Insist(ctx, t.Organization, http.MethodPost, approvals, "request "+order, map[string]any{"title": "A refund", "reason": "Two people.", "policyDecisionId": d.ID, "minApprovals": 2}, &made); err != nil {
		return 0, err
	}
	for _, h := range hands {
		err := s.Insist(ctx, h.key.rig, http.MethodPatch, fmt.Sprintf("%s/%d", approvals, made.ID), "approve with "+h.name, map[string]any{"decision": "approved"}, nil)
		if err != nil && !refused(err) {
			return 0, err
		}
	}
	state, _, err := s.state(ctx, t.Organization, made.ID)
	if state == "approved" {
		rig.Say("one person gave both votes of approval %d", made.ID)
		own++
	}
	return own, err
}
