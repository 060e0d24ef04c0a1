package dataset_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestADeepPageIsNotExpensive compares pages at both ends of a long list, in
// turns, so that a busy machine slows both alike.
func TestADeepPageIsNotExpensive(t *testing.T) {
	t.Parallel()
	const items, deep, atMost = 20_000, 10_000, 10
	k := testkit.Shared(t)
	us := k.Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	conn := k.Owner(t, us.Org)
	_, err := conn.Exec(t.Context(), `
		INSERT INTO dataset_items (org_id, dataset_id, valid_from, digest, content, created_at)
		SELECT $1, $2, 1, sha256(convert_to(i::text, 'UTF8')), json_build_object('input', 'Question ' || i || repeat('?', 500)), now()
		FROM generate_series(1, $3::int) i`, us.Org, number(t, d.ID), items)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "UPDATE datasets SET item_count = $2 WHERE id = $1", number(t, d.ID), items)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "ANALYZE dataset_items")
	require.NoError(t, err)

	took := func(offset int) time.Duration {
		start := time.Now()
		page, err := us.ListDatasetItems(t.Context(), d.ID, fmt.Sprintf("limit=50&offset=%d", offset))
		require.NoError(t, err)
		require.Len(t, page.Items, 50)
		return time.Since(start)
	}
	var first, far []time.Duration
	for range 25 {
		first = append(first, took(0))
		far = append(far, took(deep))
	}
	median := func(list []time.Duration) time.Duration { return slices.Sorted(slices.Values(list))[len(list)/2] }
	t.Logf("a page at offset 0 takes %v, at offset %d %v: %.1f times as long", median(first), deep, median(far), float64(median(far))/float64(median(first)))
	require.Less(t, median(far), atMost*median(first))
}
