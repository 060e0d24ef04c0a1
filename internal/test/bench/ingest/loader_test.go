package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// loader is the bare side: rows that are in the form in which ClickHouse takes
// them already, sent as they are. What is left is what storing costs.
type loader struct {
	insert *clickhouse.Inserter
	blocks []block
	lanes  int
}

// block is what is inserted one after the other: payloads before spans.
type block []tableRows

// tableRows is an encoded block of one table.
type tableRows struct {
	table string
	rows  proto.Input
}

// encoded is a column as it goes over the wire.
type encoded struct {
	typ  proto.ColumnType
	rows int
	data []byte
}

func (c encoded) Type() proto.ColumnType       { return c.typ }
func (c encoded) Rows() int                    { return c.rows }
func (c encoded) EncodeColumn(b *proto.Buffer) { b.PutRaw(c.data) }
func (c encoded) WriteColumn(w *proto.Writer)  { w.ChainWrite(c.data) }

// inserted are those that spans are written to, in the order of writing.
var inserted = []string{"span_payloads", "spans"}

// newLoader reads from one database what a gateway stored there, block by
// block, and prepares to store the same in another. The source must not have
// merged anything: each of its parts is one block.
func newLoader(t testing.TB, from, to clickhouse.Config, lanes int) *loader {
	t.Helper()
	insert, err := clickhouse.NewInserter(to)
	require.NoError(t, err)
	t.Cleanup(func() { _ = insert.Close() })
	l := &loader{insert: insert, lanes: lanes}
	source := dial(t, from)
	for _, table := range inserted {
		for i, part := range partNames(t, source, table) {
			if len(l.blocks) <= i {
				l.blocks = append(l.blocks, nil)
			}
			l.blocks[i] = append(l.blocks[i], tableRows{table, readPart(t, source, table, part)})
		}
	}
	return l
}

// load stores every block, as many at a time as the gateway does.
func (l *loader) load(ctx context.Context) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range l.lanes {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(l.blocks) {
					return nil
				}
				token := clickhouse.Token()
				for _, rows := range l.blocks[i] {
					if err := l.insert.Insert(ctx, rows.table, token+"-"+rows.table, rows.rows); err != nil {
						return err
					}
				}
			}
		})
	}
	return g.Wait()
}

// rowsEach is how many rows a block of a table has on average.
func (l *loader) rowsEach(table string) int {
	rows, n := 0, 0
	for _, b := range l.blocks {
		for _, r := range b {
			if r.table == table {
				rows, n = rows+r.rows[0].Data.Rows(), n+1
			}
		}
	}
	return rows / max(1, n)
}

func dial(t testing.TB, cfg clickhouse.Config) *ch.Client {
	t.Helper()
	opts, err := chgo.ParseDSN(cfg.URL.Reveal())
	require.NoError(t, err)
	c, err := ch.Dial(t.Context(), ch.Options{
		Address: opts.Addr[0], Database: opts.Auth.Database, User: opts.Auth.Username, Password: opts.Auth.Password,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func partNames(t testing.TB, c *ch.Client, table string) (names []string) {
	t.Helper()
	var name proto.ColStr
	require.NoError(t, c.Do(t.Context(), ch.Query{
		Body:   "SELECT name FROM system.parts WHERE database = currentDatabase() AND active AND rows > 0 AND table = '" + table + "' ORDER BY min_block_number",
		Result: proto.Results{{Name: "name", Data: &name}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range name.Rows() {
				names = append(names, name.Row(i))
			}
			return nil
		},
	}))
	return names
}

// readPart reads one part and encodes it. A part is sorted, and storing what is
// sorted costs less: the rows are given an order like that of arrival, trace by
// trace.
func readPart(t testing.TB, c *ch.Client, table, part string) (rows proto.Input) {
	t.Helper()
	types, results := columnsOf(t, c, table)
	require.NoError(t, c.Do(t.Context(), ch.Query{
		Body:     "SELECT * FROM " + table + " WHERE _part = '" + part + "' ORDER BY sipHash64(trace_id), start_time",
		Result:   results,
		Settings: []ch.Setting{ch.SettingInt("max_block_size", 10_000_000), ch.SettingInt("max_threads", 1)},
		OnResult: func(_ context.Context, b proto.Block) error {
			if b.Rows == 0 {
				return nil
			}
			if rows != nil {
				return errors.New("the part came in more than one block")
			}
			for i, col := range results {
				data, err := encode(col.Data, types[i])
				if err != nil {
					return fmt.Errorf("column %s: %w", col.Name, err)
				}
				rows = append(rows, proto.InputColumn{Name: col.Name, Data: data})
			}
			return nil
		},
	}))
	require.NotEmpty(t, rows)
	return rows
}

// columnsOf are columns to read a table into, and the names of their types.
func columnsOf(t testing.TB, c *ch.Client, table string) (types []string, results proto.Results) {
	t.Helper()
	var name, typ proto.ColStr
	require.NoError(t, c.Do(t.Context(), ch.Query{
		Body:   "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = '" + table + "' ORDER BY position",
		Result: proto.Results{{Name: "name", Data: &name}, {Name: "type", Data: &typ}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range name.Rows() {
				data, err := infer(typ.Row(i))
				if err != nil {
					return fmt.Errorf("column %s: %w", name.Row(i), err)
				}
				types = append(types, typ.Row(i))
				results = append(results, proto.ResultColumn{Name: name.Row(i), Data: data})
			}
			return nil
		},
	}))
	return types, results
}

// infer makes a column of a type.
func infer(typ string) (proto.Column, error) {
	if typ == "Map(LowCardinality(String), String)" {
		return proto.NewMap(new(proto.ColStr).LowCardinality(), proto.ColumnOf[string](new(proto.ColStr))), nil
	}
	var c proto.ColAuto
	err := c.Infer(proto.ColumnType(typ))
	return c.Data, err
}

// encode writes a column as it goes over the wire.
func encode(col proto.ColResult, typ string) (encoded, error) {
	data, ok := col.(proto.Column)
	if !ok {
		return encoded{}, errors.New("it can be read but not written")
	}
	if p, ok := data.(proto.Preparable); ok {
		if err := p.Prepare(); err != nil {
			return encoded{}, err
		}
	}
	var b proto.Buffer
	if s, ok := data.(proto.StateEncoder); ok {
		s.EncodeState(&b)
	}
	data.EncodeColumn(&b)
	return encoded{proto.ColumnType(typ), data.Rows(), b.Buf}, nil
}
