package arch_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/tool/arch"
)

func TestRedraw(t *testing.T) {
	t.Parallel()
	tree := func(more map[string]string) fstest.MapFS {
		fsys := fstest.MapFS{
			"cmd/assay/main.go":                 {Data: []byte(code("main", "internal/app"))},
			"internal/app/app.go":               {Data: []byte(code("app", "internal/dataset", "internal/core/fault"))},
			"internal/app/app_test.go":          {Data: []byte(code("app_test", "internal/test/testkit"))},
			"internal/test/testkit/kit.go":      {Data: []byte(code("testkit", "internal/app"))},
			"internal/dataset/store.go":         {Data: []byte(code("dataset", "internal/dataset/internal/db", "internal/core/fault"))},
			"internal/dataset/internal/db/x.go": {Data: []byte(code("db", "github.com/jackc/pgx/v5"))},
			"internal/core/fault/fault.go":      {Data: []byte(code("fault"))},
		}
		for name, content := range more {
			fsys[name] = &fstest.MapFile{Data: []byte(content)}
		}
		return fsys
	}
	const drawn = "<!-- arrows:begin -->\n\n" +
		"| Behind `internal/` | What is there | Packages |\n|---|---|---|\n" +
		"| `core` | words that everything shares: faults, callers, requests, states, schemas of values | fault |\n" +
		"| `dataset` | datasets, their items and frozen versions |  |\n" +
		"| `app` | puts a process together from all of it |  |\n" +
		"| `test` | tests through the client, proofs, benches, and the kit that they share | testkit |\n\n" +
		"```mermaid\n" +
		"flowchart TD\n" +
		"  door_app[app] --> door_dataset[dataset]\n" +
		"  door_dataset[dataset] --> door_core[core]\n" +
		"```\n\n" +
		"<!-- arrows:end -->"

	t.Run("a missing file starts as the picture", func(t *testing.T) {
		t.Parallel()
		text, err := arch.Redraw(tree(nil), arch.PictureFile)
		require.NoError(t, err)
		require.Equal(t, drawn+"\n", text)
	})

	t.Run("the text around the picture stays", func(t *testing.T) {
		t.Parallel()
		text, err := arch.Redraw(tree(map[string]string{"ARCHITECTURE.md": "before\n<!-- arrows:begin -->\nold\n<!-- arrows:end -->\nafter\n"}), arch.PictureFile)
		require.NoError(t, err)
		require.Equal(t, "before\n"+drawn+"\nafter\n", text)
	})

	t.Run("a file without markers is an error", func(t *testing.T) {
		t.Parallel()
		_, err := arch.Redraw(tree(map[string]string{"ARCHITECTURE.md": "by hand\n"}), arch.PictureFile)
		require.ErrorContains(t, err, "arrows:begin")
	})
}
