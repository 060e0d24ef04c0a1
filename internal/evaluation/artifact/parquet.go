package artifact

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// A group of rows is in memory until it is written: it ends with so many rows,
// or with the row that makes it so many bytes.
const (
	groupRows  = 20_000
	groupBytes = 16 << 20
)

// Parquet writes results as a Parquet file, for programs that analyse them.
// It begins with the columns of the table for spreadsheets. What is missing is
// null, and texts are as they are.
type Parquet struct {
	out     *parquet.GenericWriter[any]
	metrics []string
	columns []parquet.Field
	row     parquet.Row
	rows    int // of the group
	size    int // of the group
}

// NewParquet begins a table with columns for each metric.
func NewParquet(w io.Writer, metrics []string) *Parquet {
	var (
		whole    = parquet.Leaf(parquet.Int64Type)
		number   = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		text     = parquet.Optional(parquet.Leaf(unbounded{parquet.String().Type()}))
		word     = parquet.Encoded(parquet.String(), &parquet.RLEDictionary) // short, and one of few
		label    = parquet.Optional(word)
		document = parquet.Optional(parquet.Leaf(unbounded{parquet.JSON().Type()}))
	)
	scores, reasons := metricColumns(metrics)
	schema := columns{parquet.Group{}, slices.Concat(firstColumns, scores, lastColumns, typedColumns, reasons)}
	for i, node := range slices.Concat(
		[]parquet.Node{whole, whole, word, number},
		slices.Repeat([]parquet.Node{number}, len(scores)),
		[]parquet.Node{number, number, whole, whole, whole, label, text, text, label, document, document, document},
		[]parquet.Node{text},
		slices.Repeat([]parquet.Node{label}, len(reasons)),
	) {
		schema.Group[schema.names[i]] = node
	}
	t := &Parquet{metrics: metrics, columns: schema.Fields()}
	options := []parquet.WriterOption{
		parquet.NewSchema("results", schema), parquet.Compression(newPageCodec()),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain), // every reader knows it
		parquet.DataPageStatistics(false),                             // whole texts, outside of what is compressed
	}
	for _, c := range t.columns {
		if _, ok := c.Type().(unbounded); ok {
			options = append(options, parquet.SkipPageBounds(c.Name()))
		}
	}
	t.out = parquet.NewGenericWriter[any](w, options...)
	return t
}

// Write adds a row.
func (t *Parquet) Write(r Row) error {
	t.row = t.row[:0]
	scores := r.scores(t.metrics)
	t.put(wholeValue(r.Item), wholeValue(r.Epoch), parquet.ByteArrayValue([]byte(r.Status)), doubleValue(r.Overall))
	for _, score := range scores {
		t.put(doubleValue(score.Value))
	}
	t.put(doubleValue(r.DurationMS()), doubleValue(r.CostUSD()), wholeValue(r.InputTokens), wholeValue(r.OutputTokens),
		wholeValue(r.Calls), textValue(r.ErrorCode), textValue(r.ErrorMessage), textValue(r.Cluster), textValue(r.Split),
		textValue(r.Input), textValue(r.ExpectedOutput), textValue(r.Output), textValue(r.TraceID()))
	for _, score := range scores {
		t.put(textValue(score.Reason))
	}
	if _, err := t.out.WriteRows([]parquet.Row{t.row}); err != nil {
		return err
	}
	if t.rows++; t.rows < groupRows && t.size < groupBytes {
		return nil
	}
	t.rows, t.size = 0, 0
	return t.out.Flush()
}

// put adds values to the row.
func (t *Parquet) put(values ...parquet.Value) {
	for _, v := range values {
		column, defined := len(t.row), 0
		if t.columns[column].Optional() && !v.IsNull() {
			defined = 1
		}
		t.row = append(t.row, v.Level(0, defined, column))
		t.size += 8
		if v.Kind() == parquet.ByteArray {
			t.size += len(v.ByteArray())
		}
	}
}

// Close writes the last group and what readers look for at the end of the file.
func (t *Parquet) Close() error { return t.out.Close() }

// columns is a schema that keeps its order. A plain group sorts by name.
type columns struct {
	parquet.Group
	names []string
}

// Fields returns the columns in the order of names.
func (c columns) Fields() []parquet.Field {
	fields := c.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return cmp.Compare(slices.Index(c.names, a.Name()), slices.Index(c.names, b.Name()))
	})
	return fields
}

// unbounded is a type of texts of any length. Their bounds are not computed,
// because bounds are whole texts, and are in memory until the file ends.
type unbounded struct{ parquet.Type }

// NewColumnIndexer returns an index of pages that excludes no page.
func (u unbounded) NewColumnIndexer(limit int) parquet.ColumnIndexer {
	return everyText{u.Type.NewColumnIndexer(limit)}
}

// everyText puts bounds in the place of missing ones, which the library writes
// as if all texts were empty: a reader that trusts them finds nothing.
type everyText struct{ parquet.ColumnIndexer }

// IndexPage says of a page that its texts are between the first and the last
// that there can be.
func (x everyText) IndexPage(values, nulls int64, low, high parquet.Value) {
	if nulls < values {
		low, high = parquet.ByteArrayValue(nil), parquet.ByteArrayValue([]byte(strings.Repeat("\U0010FFFF", 4)))
	}
	x.ColumnIndexer.IndexPage(values, nulls, low, high)
}

// pageCodec compresses the pages of a file, which are mostly smaller than its
// window. An encoder with the usual window holds 16 MB.
type pageCodec struct {
	compress.Codec
	encoder *zstd.Encoder
}

func newPageCodec() pageCodec {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // an option is wrong
	}
	return pageCodec{&parquet.Zstd, encoder}
}

// Encode compresses a page.
func (c pageCodec) Encode(dst, page []byte) ([]byte, error) {
	return c.encoder.EncodeAll(page, dst[:0]), nil
}

func wholeValue[T ~int | ~int64 | ~uint32](v T) parquet.Value { return parquet.Int64Value(int64(v)) }

func doubleValue(v *float64) parquet.Value {
	if v == nil {
		return parquet.NullValue()
	}
	return parquet.DoubleValue(*v)
}

// textValue is null for what is empty: an empty code, label or document is none.
func textValue[T ~string | ~[]byte](v T) parquet.Value {
	if len(v) == 0 {
		return parquet.NullValue()
	}
	return parquet.ByteArrayValue([]byte(v))
}
