package arch_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/arch"
)

func TestRedraw(t *testing.T) {
	t.Parallel()
	tree := func(more map[string]string) fstest.MapFS {
		fsys := fstest.MapFS{
			"cmd/assay/main.go":                 {Data: []byte(code("main", "internal/app"))},
			"internal/app/app.go":               {Data: []byte(code("app", "internal/dataset", "internal/fault"))},
			"internal/app/app_test.go":          {Data: []byte(code("app_test", "internal/testkit"))},
			"internal/testkit/kit.go":           {Data: []byte(code("testkit", "internal/app"))},
			"internal/dataset/store.go":         {Data: []byte(code("dataset", "internal/dataset/internal/db", "internal/fault"))},
			"internal/dataset/internal/db/x.go": {Data: []byte(code("db", "github.com/jackc/pgx/v5"))},
			"internal/fault/fault.go":           {Data: []byte(code("fault"))},
		}
		for name, content := range more {
			fsys[name] = &fstest.MapFile{Data: []byte(content)}
		}
		return fsys
	}
	const drawn = "<!-- arrows:begin -->\n" +
		"```mermaid\n" +
		"flowchart TD\n" +
		"  subgraph floor_cmd[\"cmd\"]\n" +
		"    p_cmd_assay[\"cmd/assay\"]\n" +
		"  end\n" +
		"  subgraph floor_app[\"app\"]\n" +
		"    p_app[\"app\"]\n" +
		"  end\n" +
		"  subgraph floor_domains[\"domains\"]\n" +
		"    p_dataset[\"dataset\"]\n" +
		"  end\n" +
		"  subgraph floor_leaves[\"leaves\"]\n" +
		"    p_fault[\"fault\"]\n" +
		"  end\n" +
		"  p_cmd_assay --> p_app\n" +
		"  p_app --> p_dataset\n" +
		"  p_dataset --> p_fault\n" +
		"```\n" +
		"<!-- arrows:end -->"

	t.Run("a missing file starts as a heading and the picture", func(t *testing.T) {
		t.Parallel()
		text, err := arch.Redraw(tree(nil))
		require.NoError(t, err)
		require.Equal(t, "# Architecture\n\n"+drawn+"\n", text)
	})

	t.Run("the text around the picture stays", func(t *testing.T) {
		t.Parallel()
		text, err := arch.Redraw(tree(map[string]string{"ARCHITECTURE.md": "before\n<!-- arrows:begin -->\nold\n<!-- arrows:end -->\nafter\n"}))
		require.NoError(t, err)
		require.Equal(t, "before\n"+drawn+"\nafter\n", text)
	})

	t.Run("a file without markers is an error", func(t *testing.T) {
		t.Parallel()
		_, err := arch.Redraw(tree(map[string]string{"ARCHITECTURE.md": "by hand\n"}))
		require.ErrorContains(t, err, "arrows:begin")
	})
}
