package rig_test

import (
	"os"
	"path/filepath"
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

// TestGuardsOfSeveralPackagesAreRemovable is about the guards of one proof that
// lie in two packages, in files of the same name.
func TestGuardsOfSeveralPackagesAreRemovable(t *testing.T) {
	t.Parallel()
	upper := filepath.Join(t.TempDir(), "trace")
	lower := filepath.Join(upper, "internal/spandb")
	files := []string{upper + "/write.go", lower + "/write.go"}
	var guards []rig.Guard
	for _, f := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(f), 0o700))
		require.NoError(t, os.WriteFile(f, []byte("check()\n"), 0o600))
		guards = append(guards, rig.Guard{Name: f, File: f, Text: "check()\n", Instead: "if !sabotage(name) {\n\tcheck()\n}\n"})
	}
	got, err := rig.Removable(guards, map[string]string{upper: "\nvar more int\n"})
	require.NoError(t, err)
	asks := func(name string) string {
		return "package " + name + "\n\nimport \"os\"\n\nfunc sabotage(name string) bool { return os.Getenv(\"ASSAY_DEV_SABOTAGE\") == name }\n"
	}
	require.Equal(t, map[string]string{
		files[0]: guards[0].Instead, upper + "/sabotage.go": asks("trace") + "\nvar more int\n",
		files[1]: guards[1].Instead, lower + "/sabotage.go": asks("spandb"),
	}, got)

	guards[1].Text = "moved()\n"
	_, err = rig.Removable(guards, nil)
	require.ErrorContains(t, err, files[1], "the control would remove nothing")
}
