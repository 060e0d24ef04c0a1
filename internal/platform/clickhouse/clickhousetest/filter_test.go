package clickhousetest_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/platform/secret"
)

// TestTheReaderSeesOneOrganization asks without any condition of the query's own,
// on one node and on a cluster, where the rows of most organizations lie on the
// shard that is not asked.
func TestTheReaderSeesOneOrganization(t *testing.T) {
	t.Parallel()
	for kind, where := range map[string]func(testing.TB) clickhouse.Config{"single": clickhousetest.New, "cluster": clickhousetest.NewCluster} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cfg := where(t)
			ch := open(t, cfg)
			require.NoError(t, ch.Filtered(t.Context()), "restart the development engines: dev/engines restart clickhouse clickhouse2")
			const orgs = 20
			var all []principal.OrgID
			batch, err := ch.Writer().PrepareBatch(t.Context(), "INSERT INTO api_usage (org_id, at, key_id, operation, status, duration_us)")
			require.NoError(t, err)
			for i := range orgs {
				all = append(all, principal.NewOrgID())
				for range i + 1 {
					require.NoError(t, batch.Append(uuid.UUID(all[i]), time.Now().UTC(), "key", "listDatasets", uint16(200), uint32(i)))
				}
			}
			require.NoError(t, batch.Send())

			for i, org := range all {
				var n, organizations uint64
				require.NoError(t, ch.Org(org).QueryRow(t.Context(), "SELECT count(), uniqExact(org_id) FROM api_usage").Scan(&n, &organizations))
				require.EqualValues(t, i+1, n)
				require.EqualValues(t, 1, organizations)
			}
			for _, nobody := range []principal.OrgID{{}, principal.NewOrgID()} {
				var n uint64
				require.NoError(t, ch.Org(nobody).QueryRow(t.Context(), "SELECT count() FROM api_usage").Scan(&n))
				require.Zero(t, n)
			}
			require.Equal(t, orgs*(orgs+1)/2, number(t, ch, "SELECT count() FROM api_usage"), "the writer sees all")
		})
	}
}

func TestTheOrganizationOutlivesSettings(t *testing.T) {
	t.Parallel()
	ch := open(t, clickhousetest.New(t))
	org := principal.NewOrgID()
	var said string
	r := ch.Org(org).With(clickhouse.Settings{"max_threads": 1, "log_comment": principal.NewOrgID().String()}).With(clickhouse.Settings{})
	require.NoError(t, r.QueryRow(t.Context(), "SELECT getSetting('log_comment')").Scan(&said))
	require.Equal(t, org.String(), said)
}

func TestAServerWithoutTheFilterIsNamed(t *testing.T) {
	t.Parallel()
	cfg := clickhousetest.New(t)
	rename := func(url secret.Text) secret.Text {
		return secret.Text(regexp.MustCompile(`/\w+$`).ReplaceAllString(url.Reveal(), "/assay_unfiltered"))
	}
	server, err := clickhouse.Connect(cfg.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	require.NoError(t, server.Exec(t.Context(), "CREATE DATABASE IF NOT EXISTS assay_unfiltered"))
	err = open(t, clickhouse.Config{URL: rename(cfg.URL), ReaderURL: rename(cfg.ReaderURL)}).Filtered(t.Context())
	require.ErrorIs(t, err, clickhouse.ErrUnfiltered)
	require.ErrorContains(t, err, `0 of 1 servers have a row filter for the user "assay_reader" on the database "assay_unfiltered"; install deploy/clickhouse/users.d/assay.xml`)
}

func TestReadingNeedsAUserOfItsOwn(t *testing.T) {
	t.Parallel()
	const writer, reader = "clickhouse://assay@ch/assay", "clickhouse://assay_reader@ch/assay"
	require.NoError(t, clickhouse.Config{URL: writer, ReaderURL: reader}.Validate())
	for wrong, says := range map[clickhouse.Config]string{
		{URL: writer}:                               "reader_url is empty",
		{ReaderURL: reader}:                         "url is empty",
		{URL: writer, ReaderURL: writer}:            `reader_url names the user "assay", as url does`,
		{URL: writer, ReaderURL: "nowhere"}:         "reader_url cannot be read",
		{URL: "clickhouse://ch", ReaderURL: reader}: "url names no database",
	} {
		require.ErrorContains(t, wrong.Validate(), says)
		_, err := clickhouse.Open(wrong)
		require.ErrorContains(t, err, says)
	}
}
