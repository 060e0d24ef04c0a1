package review_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// people are so many annotators with personal keys.
func people(t *testing.T, c *testkit.Client, n int) []*testkit.Client {
	t.Helper()
	out := make([]*testkit.Client, n)
	for i := range out {
		_, out[i] = c.Person(t, principal.Annotator)
	}
	return out
}

// reason is why something was refused.
func annotationReason(t *testing.T, err error) string {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	return f.Reason
}

// counts compares every count of a task with the rows that it counts.
func counts(t *testing.T, k *testkit.Kit, c *testkit.Client, task int64) {
	t.Helper()
	conn := k.Runtime(t, c.Org)
	var total, completed, rows, done, wrong int
	require.NoError(t, conn.QueryRow(t.Context(), `
		SELECT t.total_items, t.completed_items, count(i.id), count(*) FILTER (WHERE i.status IN ('annotated', 'conflicted', 'adjudicated', 'skipped')),
		       count(*) FILTER (WHERE i.submitted <> (SELECT count(*) FROM annotations a WHERE a.org_id = i.org_id AND a.item_id = i.id AND a.status = 'submitted' AND a.deleted_at IS NULL)
		                           OR i.held <> (SELECT count(*) FROM annotation_leases l WHERE l.org_id = i.org_id AND l.item_id = i.id)
		                           OR i.skipped <> (SELECT count(*) FROM annotation_skips s WHERE s.org_id = i.org_id AND s.item_id = i.id))
		FROM annotation_tasks t LEFT JOIN annotation_items i ON i.org_id = t.org_id AND i.task_id = t.id
		WHERE t.org_id = $1 AND t.id = $2 GROUP BY t.org_id, t.id`, c.Org, task).Scan(&total, &completed, &rows, &done, &wrong))
	require.Equal(t, []int{rows, done, 0}, []int{total, completed, wrong}, "total_items, completed_items, items with a count that is not that of the rows")
}

// outbox is everything that an organization's events, messages and audit log say.
func outbox(t *testing.T, k *testkit.Kit, c *testkit.Client) string {
	t.Helper()
	conn := k.Owner(t, c.Org)
	var text strings.Builder
	for _, table := range []string{"events", "outbox", "audit_logs"} {
		var part string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT coalesce(string_agg(x::text, ' '), '') FROM "+table+" x WHERE org_id = $1", c.Org).Scan(&part), table)
		text.WriteString(part)
	}
	return text.String()
}
