package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/platform/secret"
)

// shard is the servers that store the same rows. Statements go to the first,
// which hands them to the others; looks go to all.
type shard []driver.Conn

// shards are all servers that store rows: the one of a single node, or those
// that the server lists for the cluster. They take the user, the password and
// the database of the URL. One that does not answer is an error of its
// statement: nothing is left out.
func (db *DB) shards(ctx context.Context) ([]shard, error) {
	if db.cluster == "" {
		return []shard{{db.writer}}, nil
	}
	rows, err := db.writer.Query(ctx, "SELECT shard_num, host_name, port FROM system.clusters WHERE cluster = ? ORDER BY shard_num, replica_num", db.cluster)
	if err != nil {
		return nil, fmt.Errorf("list shards: %w", Translate(err))
	}
	defer func() { _ = rows.Close() }()
	var all []shard
	var last uint32
	for rows.Next() {
		var number uint32
		var host string
		var port uint16
		if err := rows.Scan(&number, &host, &port); err != nil {
			return nil, fmt.Errorf("list shards: %w", Translate(err))
		}
		conn, err := db.peers.open(net.JoinHostPort(host, strconv.Itoa(int(port))))
		if err != nil {
			return nil, err
		}
		if number != last {
			all, last = append(all, nil), number
		}
		all[len(all)-1] = append(all[len(all)-1], conn)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list shards: %w", Translate(err))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the server knows no cluster %q: check ASSAY_CLICKHOUSE_CLUSTER and the server's remote_servers", db.cluster)
	}
	return all, nil
}

// peers are connections to the servers of a cluster, each opened once.
type peers struct {
	url secret.Text

	mu    sync.Mutex
	conns map[string]driver.Conn
}

func (p *peers) open(address string) (driver.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if conn := p.conns[address]; conn != nil {
		return conn, nil
	}
	opts, err := clickhouse.ParseDSN(p.url.Reveal())
	if err != nil {
		return nil, errors.New("clickhouse url cannot be read")
	}
	opts.Addr, opts.MaxOpenConns, opts.MaxIdleConns = []string{address}, 4, 1
	conn, err := clickhouse.Open(opts)
	if err != nil {
		return nil, fmt.Errorf("open clickhouse pool of %s: %w", address, err)
	}
	if p.conns == nil {
		p.conns = map[string]driver.Conn{}
	}
	p.conns[address] = conn
	return conn, nil
}

func (p *peers) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, conn := range p.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}
