package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
)

// Inserter sends blocks of columns as they are, over connections of its own:
// the pools of the database convert row by row, which costs more than the
// server spends on storing.
type Inserter struct {
	options ch.Options
	hosts   []string
	cluster bool
	idle    chan *ch.Client
}

// maxIdle is how many connections wait for the next block.
const maxIdle = 8

// NewInserter prepares an inserter. It does not wait for the server.
func NewInserter(cfg Config) (*Inserter, error) {
	opts, err := clickhouse.ParseDSN(cfg.URL.Reveal())
	if err != nil {
		return nil, errors.New("clickhouse url cannot be read")
	}
	i := &Inserter{
		hosts: opts.Addr, cluster: cfg.Cluster != "", idle: make(chan *ch.Client, maxIdle),
		options: ch.Options{
			Database: opts.Auth.Database, User: opts.Auth.Username, Password: opts.Auth.Password,
			TLS: opts.TLS, DialTimeout: 3 * time.Second, HandshakeTimeout: 5 * time.Second,
			ReadTimeout: time.Minute, ClientName: "assay", Compression: ch.CompressionLZ4,
		},
	}
	// Between processes of one machine compression costs more than it saves.
	if len(i.hosts) == 1 && loopback(i.hosts[0]) {
		i.options.Compression = ch.CompressionDisabled
	}
	return i, nil
}

func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ErrUnderway is returned for a block that the server is storing already.
var ErrUnderway = errors.New("the block is still being inserted")

// Insert stores one block of rows. When it returns nil the rows are stored and
// can be read. After an error they may or may not be: a server that is killed
// can remember a token whose rows it never put in place, so what is repeated
// gets a token of its own, and rows that replace themselves make it one effect.
func (i *Inserter) Insert(ctx context.Context, table, token string, columns proto.Input) error {
	return i.InsertAgain(ctx, table, token, token, columns)
}

// InsertAgain stores a block that was inserted before under another token, its
// name. The server goes on with an insert that nobody waits for any more, so the
// name is that of the query: as long as the server is at it, it refuses another.
func (i *Inserter) InsertAgain(ctx context.Context, table, name, token string, columns proto.Input) error {
	settings := []ch.Setting{
		ch.SettingInt("async_insert", 0),
		// Replacing rows is for merges: doing it on insert costs thrice the time.
		ch.SettingInt("optimize_on_insert", 0),
		ch.SettingInt("insert_deduplicate", 1),
		ch.SettingInt("deduplicate_blocks_in_dependent_materialized_views", 1),
		// Imports of old data touch many days; the gateway bounds how many.
		ch.SettingInt("max_partitions_per_insert_block", 0),
	}
	if i.cluster {
		settings = append(settings, ch.SettingInt("distributed_foreground_insert", 1))
	}
	query := func(token string) ch.Query {
		named := append(slices.Clone(settings), ch.Setting{Key: "insert_deduplication_token", Value: token, Important: true})
		return ch.Query{Body: columns.Into(table), Input: columns, Settings: named, QueryID: name}
	}
	client, reused, err := i.connect(ctx)
	if err != nil {
		return err
	}
	err = i.do(ctx, client, query(token))
	if err != nil && reused && !ch.IsException(err) && ctx.Err() == nil {
		// The connection may have died while it was idle.
		if client, err = i.dial(ctx); err != nil {
			return err
		}
		err = i.do(ctx, client, query(token+"-again"))
	}
	switch {
	case ch.IsErr(err, proto.ErrQueryWithSameIDIsAlreadyRunning):
		return fmt.Errorf("insert into %s: %w", table, ErrUnderway)
	case err != nil:
		return fmt.Errorf("insert into %s: %w", table, err)
	}
	return nil
}

func (i *Inserter) do(ctx context.Context, client *ch.Client, query ch.Query) error {
	err := client.Do(ctx, query)
	if err != nil && (client.IsClosed() || !ch.IsException(err)) {
		_ = client.Close()
		return err
	}
	select {
	case i.idle <- client:
	default:
		_ = client.Close()
	}
	return err
}

func (i *Inserter) connect(ctx context.Context) (client *ch.Client, reused bool, err error) {
	for {
		select {
		case c := <-i.idle:
			if c.IsClosed() {
				continue
			}
			return c, true, nil
		default:
			c, err := i.dial(ctx)
			return c, false, err
		}
	}
}

// dial tries every host once.
func (i *Inserter) dial(ctx context.Context) (*ch.Client, error) {
	var errs []error
	for _, host := range i.hosts {
		o := i.options
		o.Address = host
		c, err := ch.Dial(ctx, o)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("connect to clickhouse at %s: %w", strings.Join(i.hosts, ", "), errors.Join(errs...))
}

// Close closes the connections that are not in use.
func (i *Inserter) Close() error {
	for {
		select {
		case c := <-i.idle:
			_ = c.Close()
		default:
			return nil
		}
	}
}
