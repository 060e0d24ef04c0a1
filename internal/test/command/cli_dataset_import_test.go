package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestImportAndExport(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	environ := []string{"ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + c.Key.Reveal()}
	write := func(t *testing.T, name, text string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	const questions = "question,answer,topic\nHow?,So.,returns\nWhy?,Because.,\n"
	mapped := []string{"--map", "question=input", "--map", "answer=expectedOutput", "--map", "topic=labels.topic"}

	t.Run("a preview shows what the lines become, and imports none", func(t *testing.T) {
		t.Parallel()
		got := run(nil, append([]string{"dataset", "import", write(t, "q.csv", questions), "1", "--preview", "5"}, mapped...)...)
		require.Equal(t, result{0, "line 2: {\"input\":\"How?\",\"expectedOutput\":\"So.\",\"labels\":{\"topic\":\"returns\"}}\nline 3: {\"input\":\"Why?\",\"expectedOutput\":\"Because.\"}\n", ""}, got)
	})

	t.Run("items are imported once, and exported as they are", func(t *testing.T) {
		t.Parallel()
		d := c.Dataset(t, testkit.NewDataset{})
		args := append([]string{"dataset", "import", write(t, "q.csv", questions), d.ID}, mapped...)
		require.Equal(t, result{0, "2 created, 0 already there, 0 refused\n", ""}, run(environ, args...))
		require.Equal(t, result{0, "0 created, 2 already there, 0 refused\n", ""}, run(environ, args...))

		file := filepath.Join(t.TempDir(), "items.csv")
		require.Equal(t, result{0, "2 items written to " + file + "\n", ""}, run(environ, "dataset", "export", d.ID, file))
		other := c.Dataset(t, testkit.NewDataset{})
		require.Equal(t, result{0, "2 created, 0 already there, 0 refused\n", ""}, run(environ, "dataset", "import", file, other.ID))
		one, err := c.Freeze(t.Context(), d.ID, "")
		require.NoError(t, err)
		same, err := c.Freeze(t.Context(), other.ID, "")
		require.NoError(t, err)
		require.Equal(t, one.Digest, same.Digest)
		lines := run(environ, "dataset", "export", d.ID)
		require.Equal(t, 2, strings.Count(lines.Out, "\n"), lines.Out)
	})

	t.Run("lines that are refused are named, by whoever refuses them", func(t *testing.T) {
		t.Parallel()
		d := c.Dataset(t, testkit.NewDataset{Schema: map[string]any{"required": []string{"expected_output"}}})
		file := write(t, "q.csv", "input,expected_output\na,b\n,c\nd,\ne,f\n")
		got := run(environ, "dataset", "import", file, d.ID)
		require.Equal(t, 2, got.Code)
		require.Equal(t, "0 created, 0 already there, 1 refused\n", got.Out)
		require.Contains(t, got.Err, file+", line 3: has no input\n")
		require.Contains(t, got.Err, "correct the lines and import the file into dataset "+d.ID+" again, or pass --go-on")

		got = run(environ, "dataset", "import", file, d.ID, "--go-on")
		require.Equal(t, 1, got.Code)
		require.Equal(t, "2 created, 0 already there, 2 refused\n", got.Out)
		require.Contains(t, got.Err, file+", line 4: ")
		require.Contains(t, got.Err, "expected_output")
	})

	t.Run("what cannot be imported says why", func(t *testing.T) {
		t.Parallel()
		csv := write(t, "q.csv", questions)
		for title, c := range map[string]struct {
			args []string
			code int
			want string
		}{
			"no such file":         {[]string{"nowhere.csv", "1"}, 2, "the items cannot be read: open nowhere.csv: no such file"},
			"a format":             {[]string{write(t, "q.xlsx", "x"), "1"}, 2, "pass --format csv or --format jsonl"},
			"a column":             {[]string{csv, "1"}, 2, `the column "topic" is not a field of an item: map it with --map topic=labels.topic`},
			"a field":              {[]string{csv, "1", "--map", "question=inptu"}, 2, "did you mean input?"},
			"a dataset":            {append([]string{csv, "4711"}, mapped...), 2, "dataset"},
			"not even a mapping":   {[]string{csv, "1", "--map", "question"}, 2, "write COLUMN=FIELD"},
			"a column that is not": {append([]string{csv, "1", "--map", "topics=labels"}, mapped...), 2, `the file has no column "topics": did you mean topic?`},
		} {
			got := run(environ, append([]string{"dataset", "import"}, c.args...)...)
			require.Equal(t, c.code, got.Code, "%s: %s", title, got.Err)
			require.Contains(t, got.Err, c.want, title)
		}
	})
}
