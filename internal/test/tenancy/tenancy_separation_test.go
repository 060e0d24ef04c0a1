package tenancy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
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
	// Their keys are made with that of the operator, behind which there is nobody.
	_, ann := us.Person(t, principal.Admin)
	_, bob := us.Person(t, principal.Admin)

	require.Equal(t, "key_owner", set(us, "key_owner").SeparationOfDuties, "anybody can ask for more separation")
	_, err := us.UpdateOrganization(ctx, map[string]any{"separationOfDuties": "off"})
	require.ErrorIs(t, err, tenancy.ErrRelaxInPerson)

	o := set(ann, "off")
	require.Equal(t, "key_owner", o.SeparationOfDuties)
	require.Equal(t, "off", o.SeparationProposal.Value)
	o = set(ann, "off")
	require.Equal(t, "key_owner", o.SeparationOfDuties, "asking twice is not a second person")

	key, err := ann.CreateMyKey(ctx, testkit.NewKey{Name: "another", Scopes: []string{"admin:org"}})
	require.NoError(t, err)
	require.Equal(t, "key_owner", set(us.With(key.Key), "off").SeparationOfDuties, "nor is another key")

	member, _ := us.Person(t, principal.Admin)
	made, err := ann.CreateKey(ctx, testkit.NewKey{Name: "for another", Scopes: []string{"admin:org"}, Personal: new(true)}, testkit.OnBehalfOf(member.ID))
	require.NoError(t, err)
	require.Equal(t, "key_owner", set(us.With(made.Key), "off").SeparationOfDuties, "nor is a key that the same person made for another")

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
