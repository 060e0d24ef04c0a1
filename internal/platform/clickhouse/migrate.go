package clickhouse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"
	"text/template"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/pressly/goose/v3"

	"github.com/assayhq/assay/internal/platform/secret"
)

// Applied is one migration that Migrate ran.
type Applied struct {
	Version int64
	Name    string
	Took    time.Duration
}

// Topology fills the templates of the migrations: there is one copy of each,
// which is rendered for a single node or for a cluster.
type Topology struct {
	// Cluster is the cluster's name; empty means a single node.
	Cluster string
	// Database holds the tables.
	Database string
	// PerShard renders a cluster's tables without ON CLUSTER and replication,
	// for servers that take the statements shard by shard.
	PerShard bool
}

// OnCluster is the clause that makes a statement run on every node.
func (t Topology) OnCluster() string {
	if t.Cluster == "" || t.PerShard {
		return ""
	}
	return "ON CLUSTER '" + t.Cluster + "'"
}

// Local is the name of the table that stores rows on one node.
func (t Topology) Local(name string) string {
	if t.Cluster == "" {
		return name
	}
	return name + "_local"
}

// Engine is the table's engine: replicated on a cluster.
func (t Topology) Engine(engine, table string, args ...string) string {
	if t.Cluster == "" || t.PerShard {
		return engine + "(" + strings.Join(args, ", ") + ")"
	}
	args = append([]string{"'/clickhouse/tables/{shard}/" + t.Database + "/" + table + "'", "'{replica}'"}, args...)
	return "Replicated" + engine + "(" + strings.Join(args, ", ") + ")"
}

// Distributed is the statement that makes the cluster's table over the local
// ones; on a single node there is nothing to make.
func (t Topology) Distributed(name, shardBy string) string {
	if t.Cluster == "" {
		return ""
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s %s AS %s\nENGINE = Distributed('%s', '%s', '%s', %s);",
		name, t.OnCluster(), t.Local(name), t.Cluster, t.Database, t.Local(name), shardBy)
}

// Render fills every migration for a topology.
func Render(migrations fs.FS, t Topology) (fs.FS, error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return nil, err
	}
	out := fstest.MapFS{}
	for _, name := range names {
		tmpl, err := template.New(name).Option("missingkey=error").ParseFS(migrations, name)
		if err != nil {
			return nil, fmt.Errorf("parse migration: %w", err)
		}
		var b bytes.Buffer
		if err := tmpl.Execute(&b, t); err != nil {
			return nil, fmt.Errorf("render migration: %w", err)
		}
		out[name] = &fstest.MapFile{Data: b.Bytes()}
	}
	return out, nil
}

// Migrate brings the tables to the newest of the given migrations.
func Migrate(ctx context.Context, cfg Config, migrations fs.FS) ([]Applied, error) {
	return migrate(ctx, cfg.URL, Topology{Cluster: cfg.Cluster}, migrations)
}

// MigrateShard brings the tables of one shard of cfg.Cluster to the newest of
// the given migrations: its local tables, and the distributed ones over those of
// every shard. It is for a cluster whose servers know no ON CLUSTER, and is
// called for each shard with that shard's URL. The database has the same name on
// all of them, and each keeps its own record of what it has applied. A shard
// that is not migrated yet makes reads through the distributed tables fail.
func MigrateShard(ctx context.Context, cfg Config, migrations fs.FS) ([]Applied, error) {
	if cfg.Cluster == "" {
		return nil, errors.New("migrate clickhouse shard: cluster is empty, so there are no shards: use Migrate for a single node")
	}
	return migrate(ctx, cfg.URL, Topology{Cluster: cfg.Cluster, PerShard: true}, migrations)
}

// migrate runs the migrations as they are rendered for the topology, in the
// database that the URL names.
func migrate(ctx context.Context, url secret.Text, t Topology, migrations fs.FS) ([]Applied, error) {
	opts, err := clickhouse.ParseDSN(url.Reveal())
	if err != nil {
		return nil, errors.New("clickhouse url cannot be read")
	}
	t.Database = opts.Auth.Database
	rendered, err := Render(migrations, t)
	if err != nil {
		return nil, err
	}
	db := clickhouse.OpenDB(opts)
	defer func() { _ = db.Close() }()
	p, err := goose.NewProvider(goose.DialectClickHouse, db, rendered)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	results, err := p.Up(ctx)
	var applied []Applied
	for _, r := range results {
		applied = append(applied, Applied{Version: r.Source.Version, Name: r.Source.Path, Took: r.Duration})
	}
	if err != nil {
		return applied, fmt.Errorf("migrate clickhouse: %w", err)
	}
	return applied, nil
}
