package actdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

const (
	// pageSpans is how many spans are read at once, and pageBytes how many bytes of what
	// went in and came out of them. A page that would hold more ends early.
	pageSpans = 500
	pageBytes = 16 << 20
	// readTime bounds one question.
	readTime = 50 * time.Second
)

// limits bound what one question may take from the others. On a cluster, all rows of a
// trace are on one shard.
var limits = clickhouse.Settings{
	"max_memory_usage": 1 << 30, "max_bytes_to_read": 20_000_000_000, "max_query_size": 4 << 20,
	"distributed_product_mode": "local", "optimize_skip_unused_shards": 1,
}

// DB reads acts.
type DB struct {
	ch    *clickhouse.DB
	spans spandb.DB
}

// New makes the reader of all organizations. Spans knows where traces are.
func New(ch *clickhouse.DB, spans spandb.DB) DB { return DB{ch, spans} }

// Reader reads the acts of some traces, page by page.
type Reader struct {
	db          DB
	org         principal.OrgID
	ids         []span.TraceID
	of          spandb.Scope // those of them in which an agent is at work
	begun, done bool
	after       place
}

// Of reads the acts of some traces.
func (s DB) Of(org principal.OrgID, ids []span.TraceID) *Reader {
	return &Reader{db: s, org: org, ids: ids}
}

// Next returns some acts, in the order of the traces' ids, and none when there are no more.
func (r *Reader) Next(ctx context.Context) ([]span.Record, error) {
	if !r.begun {
		if err := r.begin(ctx); err != nil {
			return nil, err
		}
	}
	if r.done {
		return nil, nil
	}
	page, err := r.rows(ctx)
	if err != nil || len(page) == 0 {
		return nil, err
	}
	whole, err := r.fill(ctx, page)
	if err != nil {
		return nil, err
	}
	r.done = len(page) < pageSpans && whole == len(page)
	out := make([]span.Record, whole)
	for i := range out {
		out[i] = page[i].Record
	}
	last := &out[whole-1]
	r.after = place{trace: last.TraceID, start: last.Start, span: last.ID}
	return out, nil
}

// begin finds the traces in which an agent is at work.
func (r *Reader) begin(ctx context.Context) error {
	all, err := r.db.spans.Bounds(ctx, r.org, r.ids)
	if err != nil {
		return err
	}
	acting := map[span.TraceID]bool{}
	if len(all) > 0 {
		err = r.each(ctx, agents(all), func(rows driver.Rows) error {
			var id string
			err := rows.Scan(&id)
			acting[traceID(id)] = true
			return err
		})
		if err != nil {
			return fmt.Errorf("find traces of agents: %w", err)
		}
	}
	r.of = slices.DeleteFunc(all, func(b spandb.Bounds) bool { return !acting[b.ID] })
	r.begun, r.done = true, len(r.of) == 0
	return nil
}

// each scans every row of a question about the organization.
func (r *Reader) each(ctx context.Context, text string, scan func(driver.Rows) error) error {
	return r.db.ch.Org(r.org).With(limits).Each(ctx, readTime, scan, text, chgo.Named("org", uuid.UUID(r.org)), chgo.Named("limit", pageSpans))
}

// act is a span as it is stored.
type act struct {
	span.Record
	version uint64
}

// rows reads spans, without what went in and came out of them.
func (r *Reader) rows(ctx context.Context) (out []act, err error) {
	account := admission.From(ctx)
	err = r.each(ctx, acts(r.of, r.after), func(rows driver.Rows) error {
		var a act
		var trace, id, message, name, service, provider, tool, conversation, user string
		var duration uint64
		var state int8
		var texts, values map[string]string
		err := rows.Scan(&trace, &id, &a.Start, &duration, &state, &a.Status, &message, &a.Primitive, &name, &service, &provider, &tool, &conversation, &user, &texts, &values, &a.version)
		if err != nil {
			return err
		}
		a.TraceID = traceID(trace)
		copy(a.ID[:], id)
		if state == span.StateEnded {
			a.End = a.Start + int64(duration)
		}
		a.StatusMessage, a.Name, a.Service, a.Provider, a.Tool = []byte(message), []byte(name), []byte(service), []byte(provider), []byte(tool)
		a.Conversation, a.User = []byte(conversation), []byte(user)
		a.Attributes = append(attributes(texts, false), attributes(values, true)...)
		out = append(out, a)
		size := len(message)
		for _, one := range a.Attributes {
			size += len(one.Key) + len(one.Value)
		}
		return account.Wait(ctx, size)
	})
	if err != nil {
		return nil, fmt.Errorf("read acts: %w", err)
	}
	return out, nil
}

func attributes(of map[string]string, values bool) (out []span.Attribute) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, span.Attribute{Key: []byte(name), Value: []byte(of[name]), JSON: values})
	}
	return out
}

// errFull ends the reading of a page that has as many bytes as it may.
var errFull = errors.New("the page is full")

// fill reads what went in and came out of the spans of a page, and returns how many of
// them are whole: all of them, or fewer if the page ends early.
func (r *Reader) fill(ctx context.Context, page []act) (whole int, err error) {
	at := make(map[place]int, len(page))
	for i := range page {
		at[place{trace: page[i].TraceID, span: page[i].ID}] = i
	}
	account, size := admission.From(ctx), 0
	whole = len(page)
	err = r.each(ctx, payloads(page), func(rows driver.Rows) error {
		var trace, id, input, output, events string
		var version uint64
		if err := rows.Scan(&trace, &id, &version, &input, &output, &events); err != nil {
			return err
		}
		of := place{trace: traceID(trace)}
		copy(of.span[:], id)
		i, ok := at[of]
		if !ok || page[i].version != version {
			return nil
		}
		if size += len(input) + len(output) + len(events); size > pageBytes && i > 0 {
			whole = i
			return errFull
		}
		a := &page[i]
		a.Input, a.Output, a.Events = []byte(input), []byte(output), []byte(events)
		return account.Wait(ctx, len(input)+len(output)+len(events))
	})
	if err != nil && !errors.Is(err, errFull) {
		return 0, fmt.Errorf("read payloads of acts: %w", err)
	}
	return whole, nil
}

func traceID(text string) (id span.TraceID) {
	copy(id[:], text)
	return id
}
