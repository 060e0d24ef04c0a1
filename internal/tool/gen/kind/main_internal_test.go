package main

import (
	"go/format"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheNamesAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	want, err := format.Source(render())
	require.NoError(t, err)
	got, err := os.ReadFile("../../../agent/evidence/kind/name_gen.go")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run make gen")
}

func TestTheTypeOfAFieldIsThatOfEveryFieldOfItsName(t *testing.T) {
	t.Parallel()
	src := string(render())
	require.Contains(t, src, "func (v Values) ExpiresAt() time.Time {")
	require.Contains(t, src, "func (v Values) ToolInvocationEvidenceID() int64 {")
	require.Contains(t, src, "FieldAmount = \"amount\"")
	require.NotContains(t, src, ") Amount() ", "it is a text of approvals, and may be an object of side effects")
}
