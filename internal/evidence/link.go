package evidence

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// report is what somebody says about one record, on its way to the store.
type report struct {
	draft  kind.Draft
	origin Origin
	// header is the Idempotency-Key of the request, if the report is all of it.
	header string
	// index is the event of an ingest that the report comes from.
	index int
	links Links
	identity
	occurred time.Time
	// name is the one that the sender gave the record.
	name string
	// once names what may be counted only once, however often it is reported; zero
	// counts every report.
	once key
	// stub is a thing that was only mentioned: it adds nothing to one that is known.
	stub bool
	// reused says that its name was used for other content.
	reused bool
	// fields are what is wrong with it.
	fields []fault.Field
}

func (r *report) refuse(path, code, message string) {
	r.fields = append(r.fields, fault.Field{In: "body", Path: path, Code: code, Message: message})
}

// link finds out what reports belong to: traces, runtimes and connectors, which are
// added if they are not known, and other records, which must exist. A report with a
// fault is marked and left out of what follows.
func (s *Service) link(ctx context.Context, org principal.OrgID, reports []*report) error {
	if err := s.linkTraces(ctx, org, reports); err != nil {
		return err
	}
	if err := s.linkRecords(ctx, org, reports); err != nil {
		return err
	}
	if err := s.linkThings(ctx, org, reports); err != nil {
		return err
	}
	for _, r := range reports {
		r.identity = identify(r.draft, r.links, r.header)
		for name := range columns {
			if !own(r.draft.Kind, name) {
				delete(r.draft.Values, name)
			}
		}
	}
	return nil
}

// sound are the reports without a fault.
func sound(reports []*report) (out []*report) {
	for _, r := range reports {
		if len(r.fields) == 0 {
			out = append(out, r)
		}
	}
	return out
}

// linkTraces settles the traces of reports and gives them numbers.
func (s *Service) linkTraces(ctx context.Context, org principal.OrgID, reports []*report) error {
	mentioned := map[span.TraceID]bool{}
	for _, r := range sound(reports) {
		v := r.draft.Values
		r.occurred, r.name = v.Time("occurred_at"), v.Text("idempotency_key")
		r.links.EvaluationRunID = v.Integer("evaluation_run_id")
		r.links.RuntimeKey, r.links.ConnectorKey = v.Text("runtime_key"), v.Text("connector_key")
		if err := s.linkTrace(ctx, org, r); err != nil {
			return err
		}
		if r.links.Trace != (span.TraceID{}) {
			mentioned[r.links.Trace] = true
		}
		if id := v.Text("span_id"); id != "" {
			if _, ok := span.ParseID(id); !ok {
				r.refuse("/span_id", "pattern", "must be 16 hexadecimal digits that are not all zero")
			}
		}
	}
	return s.traces.Mention(ctx, org, slices.Collect(maps.Keys(mentioned)))
}

// linkTrace settles the trace of one report.
func (s *Service) linkTrace(ctx context.Context, org principal.OrgID, r *report) error {
	v := r.draft.Values
	if hex := v.Text("otel_trace_id"); hex != "" {
		id, ok := span.ParseTraceID(hex)
		if !ok {
			r.refuse("/otel_trace_id", "pattern", "must be 32 hexadecimal digits that are not all zero")
			return nil
		}
		r.links.Trace = id
	}
	given := v["trace_id"]
	if len(given) == 0 {
		return nil
	}
	text := string(given)
	if given.Kind() == '"' {
		text = v.Text("trace_id")
	}
	id, ok := span.ParseTraceID(text)
	if !ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			r.refuse("/trace_id", "format", "must be the number of a trace, or its 32 hexadecimal digits")
			return nil
		}
		if id, err = s.traces.Numbered(ctx, org, n); fault.IsNotFound(err) {
			r.refuse("/trace_id", "unknown_reference", "there is no trace with this number")
			return nil
		} else if err != nil {
			return err
		}
	}
	if r.links.Trace != (span.TraceID{}) && r.links.Trace != id {
		r.refuse("/trace_id", "mutually_exclusive", "differs from otel_trace_id")
		return nil
	}
	r.links.Trace = id
	return nil
}

// linkRecords checks that the records exist that reports refer to.
func (s *Service) linkRecords(ctx context.Context, org principal.OrgID, reports []*report) error {
	wanted := map[int64]bool{}
	var kinds []kind.Name
	each := func(do func(r *report, f *kind.Field, id int64)) {
		for _, r := range sound(reports) {
			for _, list := range [][]kind.Field{r.draft.Kind.Fields, kind.Common} {
				for i := range list {
					if f := &list[i]; f.Type == kind.Ref && len(r.draft.Values[f.Name]) > 0 {
						do(r, f, r.draft.Values.Integer(f.Name))
					}
				}
			}
		}
	}
	each(func(_ *report, f *kind.Field, id int64) {
		wanted[id] = true
		if kind.Must(f.Of).Class == kind.Stream {
			kinds = append(kinds, f.Of)
		}
	})
	if len(wanted) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(wanted))
	all, err := s.store.findAll(ctx, org, ids)
	if err != nil {
		return err
	}
	streamed, err := s.store.some(ctx, org, kinds, ids)
	if err != nil {
		return err
	}
	found := map[int64]Record{}
	for _, r := range append(all, streamed...) {
		found[r.ID] = r
	}
	each(func(r *report, f *kind.Field, id int64) {
		other, ok := found[id]
		switch {
		case !ok || other.Kind.Name != f.Of:
			r.refuse("/"+f.Name, "unknown_reference", "there is no "+kind.Must(f.Of).One+" with this id")
		case f.Name == "runtime_id":
			r.links.RuntimeID = id
			r.same("runtime_key", &r.links.RuntimeKey, other)
		case f.Name == "connector_id":
			r.links.ConnectorID = id
			r.same("connector_key", &r.links.ConnectorKey, other)
		}
	})
	return nil
}

// same settles the key of a thing that is given by its id.
func (r *report) same(field string, key *string, thing Record) {
	name := thing.Values.Text(field)
	if *key != "" && *key != name {
		r.refuse("/"+field, "mutually_exclusive", "is the key of another record than the id that is given")
	}
	*key = name
}

// linkThings finds the runtimes and connectors that reports name by their keys, and adds
// those that are not known.
func (s *Service) linkThings(ctx context.Context, org principal.OrgID, reports []*report) error {
	for _, field := range []string{"runtime_key", "connector_key"} {
		k := kind.Must(thingOf[field])
		names := map[string]bool{}
		for _, r := range sound(reports) {
			if name, id := r.thing(field); *name != "" && *id == 0 && !own(r.draft.Kind, field) {
				names[*name] = true
			}
		}
		if len(names) == 0 {
			continue
		}
		known, err := s.known(ctx, org, k, slices.Sorted(maps.Keys(names)))
		if err != nil {
			return err
		}
		for _, r := range sound(reports) {
			if name, id := r.thing(field); !own(r.draft.Kind, field) && *id == 0 {
				*id = known[*name].ID
			}
		}
	}
	return nil
}

// thingOf is the kind of what a key names.
var thingOf = map[string]kind.Name{"runtime_key": "runtimes", "connector_key": "connectors"}

// thing is the key and the id of what a report names.
func (r *report) thing(field string) (name *string, id *int64) {
	if field == "runtime_key" {
		return &r.links.RuntimeKey, &r.links.RuntimeID
	}
	return &r.links.ConnectorKey, &r.links.ConnectorID
}

// known returns things by their keys, and adds those that are not there.
func (s *Service) known(ctx context.Context, org principal.OrgID, k *kind.Kind, names []string) (map[string]Record, error) {
	found, err := s.store.things(ctx, s.db.Org(org), org, k.Name, names)
	if err != nil || len(found) == len(names) {
		return found, err
	}
	var stubs []*report
	for _, name := range names {
		if _, ok := found[name]; !ok {
			stubs = append(stubs, stub(k, name))
		}
	}
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		made, err := s.putTx(ctx, tx, stubs)
		for _, r := range made {
			found[r.Values.Text(k.KeyField)] = r.Record
		}
		return err
	})
	return found, err
}

// stub is a thing of which nothing is known but its key.
func stub(k *kind.Kind, name string) *report {
	v := kind.Values{k.KeyField: kind.TextValue(name)}
	if k.Name == "connectors" {
		v["type"] = kind.TextValue("custom")
	}
	r := &report{draft: kind.Draft{Kind: k, Values: v}, origin: Ingested, stub: true}
	r.identity = identify(r.draft, r.links, "")
	return r
}
