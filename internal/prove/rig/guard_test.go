package rig_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/prove/rig"
)

func TestChosen(t *testing.T) {
	t.Parallel()
	controls := []string{"ack_first", "lose_one", "keep_hold"}
	name := func(c string) string { return c }
	for names, want := range map[string][]string{
		"all": controls, "none": nil, "lose_one": {"lose_one"}, "keep_hold,ack_first": {"keep_hold", "ack_first"},
	} {
		got, err := rig.Chosen(controls, name, names)
		require.NoError(t, err)
		require.Equal(t, want, got, names)
	}
	for _, names := range []string{"", "lose", "lose_one,", "none,lose_one"} {
		_, err := rig.Chosen(controls, name, names)
		require.Error(t, err, "%q would run no control and nobody would notice", names)
	}
}
