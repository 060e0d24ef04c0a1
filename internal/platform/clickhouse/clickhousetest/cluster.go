package clickhousetest

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/secret"
)

// clusterName is the cluster of the development engines: two shards of one
// server each.
const clusterName = "pair"

// NewCluster returns the configuration of a fresh database on both shards of
// the development cluster, each migrated. Its URLs are those of the first shard;
// Shards gives both. The databases of a test that fails are kept, and their name
// is printed.
//
// Unlike New it makes nothing ahead: a distributed table names its database, so
// one that is made under another name cannot be renamed.
func NewCluster(t testing.TB) clickhouse.Config {
	t.Helper()
	// The name that is free on the first shard is free on the second: there only
	// clusters have databases.
	var name string
	require.NoError(t, admin(func(conn driver.Conn) (err error) { name, err = create(t.Context(), conn); return err }))
	cfg, err := at(name)
	require.NoError(t, err)
	cfg.Cluster = clusterName
	for _, shard := range Shards(t, cfg) {
		makeShard(t, shard, name)
	}
	return cfg
}

// Shards returns the configuration of each shard of what NewCluster made, the
// first shard first. Each is for what one server stores, without the cluster.
func Shards(t testing.TB, cluster clickhouse.Config) []clickhouse.Config {
	t.Helper()
	second, err := devenv.Get("ASSAY_DEV_CLICKHOUSE_SHARD2_URL")
	require.NoError(t, err)
	host := parse(t, secret.Text(second)).Host
	shards := []clickhouse.Config{cluster, cluster}
	for i := range shards {
		shards[i].Cluster = ""
	}
	for _, text := range []*secret.Text{&shards[1].URL, &shards[1].ReaderURL} {
		u := parse(t, *text)
		u.Host = host
		*text = secret.Text(u.String())
	}
	return shards
}

func parse(t testing.TB, text secret.Text) *url.URL {
	t.Helper()
	u, err := url.Parse(text.Reveal())
	require.NoError(t, err)
	return u
}

// makeShard makes and migrates the database on one shard, and drops it at the
// end of the test.
func makeShard(t testing.TB, shard clickhouse.Config, name string) {
	t.Helper()
	u := parse(t, shard.URL)
	u.Path = "/system" // it is there before any other
	server, err := clickhouse.Connect(secret.Text(u.String()))
	require.NoError(t, err)
	t.Cleanup(func() {
		defer func() { _ = server.Close() }()
		if t.Failed() {
			t.Logf("the ClickHouse database of this failed test is kept at %s: %s", u.Host, name)
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := server.Exec(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
			t.Logf("ClickHouse database %s at %s is left behind: %v", name, u.Host, err)
		}
	})
	require.NoError(t, server.Exec(t.Context(), "CREATE DATABASE IF NOT EXISTS "+name), "ClickHouse at %s does not answer: run `make up`", u.Host)
	var known uint64
	require.NoError(t, server.QueryRow(t.Context(), "SELECT count() FROM system.clusters WHERE cluster = ?", clusterName).Scan(&known))
	require.EqualValues(t, 2, known, "ClickHouse at %s was started without the cluster %q: run `dev/engines restart clickhouse`", u.Host, clusterName)
	shard.Cluster = clusterName
	_, err = clickhouse.MigrateShard(t.Context(), shard, db.ClickHouse())
	require.NoError(t, err, "migrate the shard at %s", u.Host)
}
