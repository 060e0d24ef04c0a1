package dataset_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// doubling is a schema of a few lines that asks for two to the n checks of one
// value.
func doubling(n int) map[string]any {
	parts := map[string]any{fmt.Sprint("p", n): map[string]any{"type": "object"}}
	for i := range n {
		next := map[string]any{"$ref": fmt.Sprint("#/$defs/p", i+1)}
		parts[fmt.Sprint("p", i)] = map[string]any{"allOf": []any{next, next}}
	}
	return map[string]any{"$ref": "#/$defs/p0", "$defs": parts}
}

// TestSchemasOfStrangers sends schemas and items that were made to do harm.
func TestSchemasOfStrangers(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	const huge = "1e1000001"

	t.Run("a number that nobody writes is refused, in a schema and in an item", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		res, err := us.Send(ctx, http.MethodPost, "/api/datasets", strings.NewReader(`{"name":"x","schema":{"properties":{"input":{"minimum":`+huge+`}}}}`))
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, res.Status, "%s", res.Body)
		d := us.Dataset(t, testkit.NewDataset{Schema: map[string]any{"properties": map[string]any{"input": map[string]any{"minimum": 1}}}})
		res, err = us.Send(ctx, http.MethodPost, "/api/datasets/"+d.ID+"/items", strings.NewReader(`{"items":[{"input":`+huge+`}]}`))
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, res.Status, "%s", res.Body)
	})

	t.Run("a schema that asks for more than there is time for is refused", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		d, err := us.CreateDataset(ctx, testkit.NewDataset{Name: "doubling", Schema: doubling(40)})
		if err == nil {
			_, err = us.AddItems(ctx, d.ID, []testkit.Item{{Input: "Why?"}})
		}
		require.NotEmpty(t, fields(t, err))
	})
}
