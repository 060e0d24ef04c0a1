package rig_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/prove/rig"
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
	root := t.TempDir()
	upper, lower := filepath.Join(root, "trace"), filepath.Join(root, "trace/internal/spandb")
	const source = "package p\n\nfunc (w *writer) write() {\n\tcheck()\n}\n\nfunc (r *reader) write() {\n\tcheck()\n}\n"
	const removed = "package p\n\nfunc (w *writer) write() {\n\tif !sabotage(name) {\n\t\tcheck()\n\t}\n}\n\nfunc (r *reader) write() {\n\tcheck()\n}\n"
	var guards []rig.Guard
	for _, dir := range []string{upper, lower} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "write.go"), []byte(source), 0o600))
		guards = append(guards, rig.Guard{Name: dir, In: filepath.Base(dir) + ".writer.write", Text: "\tcheck()\n", Instead: "\tif !sabotage(name) {\n\t\tcheck()\n\t}\n"})
	}
	got, err := rig.Removable(root, guards, map[string]string{"trace": "\nvar more int\n"})
	require.NoError(t, err)
	asks := func(name string) string {
		return "package " + name + "\n\nimport \"os\"\n\nfunc sabotage(name string) bool { return os.Getenv(\"ASSAY_DEV_SABOTAGE\") == name }\n"
	}
	require.Equal(t, map[string]string{
		upper + "/write.go": removed, upper + "/sabotage.go": asks("trace") + "\nvar more int\n",
		lower + "/write.go": removed, lower + "/sabotage.go": asks("spandb"),
	}, got)

	for in, text := range map[string]string{"trace.writer.write": "moved()\n", "trace.writer.read": "check()\n", "log.writer.write": "check()\n", "trace": "check()\n"} {
		_, err = rig.Removable(root, []rig.Guard{{Name: "one", In: in, Text: text}}, nil)
		require.ErrorContains(t, err, in, "the control would remove nothing")
	}
}
