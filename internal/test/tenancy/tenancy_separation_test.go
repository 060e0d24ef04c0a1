package tenancy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

//nolint:paralleltest // it moves the clock
func TestRelaxingTheSeparationOfDutiesTakesTwoPeople(t *testing.T) {
	k := testkit.Moving(t)
	ctx := t.Context()
	us := k.Org(t)
	set := func(c *testkit.Client, value any) testkit.Organization {
		t.Helper()
		o, err := c.UpdateOrganization(ctx, map[string]any{"separationOfDuties": value})
		require.NoError(t, err)
		return o
	}
	_, ann := us.Person(t, principal.Admin)
	_, bob := us.Person(t, principal.Admin)

	require.Equal(t, "key_owner", set(us, "key_owner").SeparationOfDuties, "anybody can ask for more separation")
	_, err := us.UpdateOrganization(ctx, map[string]any{"separationOfDuties": "off"})
	require.ErrorIs(t, err, principal.ErrNotAPerson)

	o := set(ann, "off")
	require.Equal(t, "key_owner", o.SeparationOfDuties)
	require.Equal(t, "off", o.SeparationProposal.Value)
	o = set(ann, "off")
	require.Equal(t, "key_owner", o.SeparationOfDuties, "asking twice is not a second person")

	key, err := ann.CreateMyKey(ctx, testkit.NewKey{Name: "another", Scopes: []string{"admin:org"}})
	require.NoError(t, err)
	require.Equal(t, "key_owner", set(us.With(key.Key), "off").SeparationOfDuties, "nor is another key")

	member, _ := us.Person(t, principal.Admin)
	_, err = testkit.MintFor(t, ann, member.ID, principal.Admin).UpdateOrganization(ctx, map[string]any{"separationOfDuties": "off"})
	require.ErrorIs(t, err, principal.ErrNotAPerson, "nor is a key that the same person made for another")

	_, puppet := testkit.LetIn(t, ann, principal.Admin)
	require.Equal(t, "key_owner", set(puppet, "off").SeparationOfDuties, "nor is somebody whose invitation the same person has seen")
	_, puppets := testkit.LetIn(t, puppet, principal.Admin)
	require.Equal(t, "key_owner", set(puppets, "off").SeparationOfDuties, "nor is somebody whom they have let in")

	require.Equal(t, "key_owner", set(bob, "requester").SeparationOfDuties, "another setting is another proposal")
	require.Equal(t, "requester", set(ann, "requester").SeparationOfDuties)

	set(ann, "off")
	k.Clock.Advance(8 * 24 * time.Hour)
	require.Equal(t, "requester", set(bob, "off").SeparationOfDuties, "a proposal is forgotten after a week")
	o = set(ann, "off")
	require.Equal(t, "off", o.SeparationOfDuties)
	require.Nil(t, o.SeparationProposal)
	require.Equal(t, "requester", set(us, "requester").SeparationOfDuties)
}

// TestAMachineIsNobody tries what a service key with admin:org can do to be two people.
func TestAMachineIsNobody(t *testing.T) {
	t.Parallel()
	ctx, us := t.Context(), testkit.Shared(t).Org(t)
	for range 2 {
		m, minted := us.Minted(t, principal.Admin)
		off := map[string]any{"separationOfDuties": "off"}
		_, err := minted.UpdateOrganization(ctx, off)
		require.ErrorIs(t, err, principal.ErrNotAPerson, "a key that it made for an admin")
		_, err = us.UpdateOrganization(ctx, off, testkit.OnBehalfOf(m.ID))
		require.ErrorIs(t, err, principal.ErrNotAPerson, "itself, on behalf of an admin")
		own, err := minted.CreateMyKey(ctx, testkit.NewKey{Name: "own of " + m.ID, Scopes: []string{"admin:org"}})
		require.NoError(t, err)
		_, err = us.With(own.Key).UpdateOrganization(ctx, off)
		require.ErrorIs(t, err, principal.ErrNotAPerson, "a key that was made with such a key")
		for _, c := range []*testkit.Client{us, minted} {
			_, err = c.CreateInvitation(ctx, m.ID)
			require.ErrorIs(t, err, principal.ErrNotAPerson, "whoever sees an invitation can accept it")
		}
		_, ann := us.Person(t, principal.Admin)
		mine, err := ann.ListMyAPIKeys(ctx, "")
		require.NoError(t, err)
		rotated, err := us.RotateKey(ctx, mine.APIKeys[0].ID, 0)
		require.NoError(t, err)
		_, err = us.With(rotated.Key).UpdateOrganization(ctx, off)
		require.ErrorIs(t, err, principal.ErrNotAPerson, "the successor of a person's key, which it has seen")
	}
	o, err := us.GetOrganization(ctx)
	require.NoError(t, err)
	require.Equal(t, "requester", o.SeparationOfDuties)
	require.Nil(t, o.SeparationProposal)
}
