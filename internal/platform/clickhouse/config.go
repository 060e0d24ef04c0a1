// Package clickhouse is the data plane's database: the pool, its migrations
// for a single node and for a cluster.
package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/secret"
)

// Config says how to reach ClickHouse.
type Config struct {
	URL       secret.Text `setting:"url" help:"Connection URL for the native protocol: clickhouse://USER:PASSWORD@HOST:9000/DATABASE."`
	ReaderURL secret.Text `setting:"reader_url" help:"Connection URL of the read-only user, whose row filter shows each query the rows of one organization. It must be another user than that of url."`
	Cluster   string      `setting:"cluster" help:"Cluster name in the server's remote_servers; empty for a single node."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	if c.URL == "" {
		return errors.New("url is empty: give the native URL, for example clickhouse://assay:PASSWORD@localhost:9000/assay")
	}
	if c.ReaderURL == "" {
		return errors.New("reader_url is empty: give the native URL of the read-only user, for example clickhouse://assay_reader:PASSWORD@localhost:9000/assay")
	}
	writer, err := parse("url", c.URL)
	reader, err2 := parse("reader_url", c.ReaderURL)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if writer.Auth.Username == reader.Auth.Username {
		return fmt.Errorf("reader_url names the user %q, as url does: give the read-only user, for example assay_reader", reader.Auth.Username)
	}
	return nil
}

// parse reads a connection URL; the driver's own words may quote the password.
func parse(name string, url secret.Text) (*clickhouse.Options, error) {
	opts, err := clickhouse.ParseDSN(url.Reveal())
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: it should look like clickhouse://USER:PASSWORD@HOST:9000/DATABASE", name)
	}
	if opts.Auth.Database == "" {
		return nil, fmt.Errorf("%s names no database: add it as the path, for example /assay", name)
	}
	return opts, nil
}

// DB is two pools of native connections: one that writes, and one that reads the
// rows of one organization at a time, whose user cannot write and is limited in
// time and memory.
type DB struct {
	writer, reader       driver.Conn
	cluster              string
	database, readerUser string
	peers                *peers
	hides                *hides
	turns                *admission.Turns // of the reader's connections
}

// Cluster is the name of the cluster, empty for a single node.
func (db *DB) Cluster() string { return db.cluster }

// Open prepares the pools. It does not wait for the server.
func Open(cfg Config) (*DB, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("clickhouse: %w", err)
	}
	// A block is acknowledged only when it is stored: never hand it to the
	// server's own buffer.
	writing := clickhouse.Settings{"async_insert": 0}
	if cfg.Cluster != "" {
		writing["distributed_foreground_insert"] = 1 // stored on its shard, not in a queue for it
	}
	writer, _, err := open(cfg.URL, writing)
	if err != nil {
		return nil, err
	}
	reader, opts, err := open(cfg.ReaderURL, nil)
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return &DB{
		writer: writer, reader: reader, cluster: cfg.Cluster, database: opts.Auth.Database, readerUser: opts.Auth.Username,
		peers: &peers{url: cfg.URL}, hides: new(hides), turns: admission.NewTurns(opts.MaxOpenConns),
	}, nil
}

// Connect prepares a pool that belongs to no product: for tools that make and
// drop databases.
func Connect(url secret.Text) (driver.Conn, error) {
	conn, _, err := open(url, nil)
	return conn, err
}

func open(url secret.Text, settings clickhouse.Settings) (driver.Conn, *clickhouse.Options, error) {
	opts, err := clickhouse.ParseDSN(url.Reveal())
	if err != nil {
		return nil, nil, errors.New("clickhouse url cannot be read")
	}
	// What the URL says stays; what it leaves open is set here.
	opts.DialTimeout = cmp.Or(opts.DialTimeout, 5*time.Second)
	opts.MaxOpenConns = cmp.Or(opts.MaxOpenConns, 16)
	opts.MaxIdleConns = cmp.Or(opts.MaxIdleConns, 8)
	if opts.Compression == nil {
		opts.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	}
	if opts.Settings == nil {
		opts.Settings = clickhouse.Settings{}
	}
	maps.Copy(opts.Settings, settings)
	conn, err := clickhouse.Open(opts)
	if err != nil {
		return nil, nil, fmt.Errorf("open clickhouse pool: %w", err)
	}
	return conn, opts, nil
}

// Writer returns the pool that writes.
func (db *DB) Writer() driver.Conn { return db.writer }

// Ping reports whether the server answers both users.
func (db *DB) Ping(ctx context.Context) error {
	return errors.Join(db.writer.Ping(ctx), db.reader.Ping(ctx))
}

// Close closes every connection.
func (db *DB) Close() error {
	return errors.Join(db.writer.Close(), db.reader.Close(), db.peers.close())
}
