package evidence

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/clean"
	"github.com/assayhq/assay/internal/agent/evidence/internal/effect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/statedb"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// report is what a sender says about one record, on its way to the store.
type report struct {
	draft  kind.Draft
	origin record.Origin
	// header is the Idempotency-Key of the request, if the report is all of it.
	header string
	// index is the event of an ingest that the report comes from.
	index int
	// sender is who sent the report, if it is not the caller.
	sender *principal.Caller
	links  Links
	// number is that of the trace.
	number int64
	identity
	occurred time.Time
	// name is the one that the sender gave the record.
	name string
	// untimed says that the time is when it was received: it is not part of what was
	// sent.
	untimed bool
	// stub is a thing that was only mentioned: it adds nothing to one that is known.
	stub bool
	// adds says that it tells something about a record that another report makes, and
	// nothing if there is none; dropped says that there was none.
	adds, dropped bool
	// strict says that only the digests are stored of what went in and came out.
	strict bool
	// fills says that it adds what is missing and replaces nothing.
	fills bool
	// reused says that its name was used for other content, and known that its record was
	// there.
	reused, known bool
	// blurred is a field that tells effects apart, and that has lost something that is not
	// stored; empty if there is none.
	blurred string
	// fields are what is wrong with it.
	fields []fault.Field
}

// reuses reports whether its name was used for other content. What spans said before under
// the same name is not content: they may be sent again and say more.
func (r *report) reuses(claims map[key]claim) bool {
	other := func(mine, theirs []byte) bool { return mine != nil && len(theirs) > 0 && !bytes.Equal(mine, theirs) }
	return other(r.Content, claims[r.Key].Content) || other(r.Said, claims[r.Once].Content)
}

// newReport is a report that no sender names.
func newReport(k kind.Name, v kind.Values, origin record.Origin, l Links) *report {
	r := &report{draft: kind.Draft{Kind: kind.Must(k), Values: v}, origin: origin, links: l}
	r.identity = record.Identify(r.draft, l, "")
	return r
}

// blurredName is what is wrong with a side effect that redaction makes the same as others.
const blurredName = "has something that is not stored, and would no longer tell effects apart: send it without that"

func (r *report) refuse(path, code, message string) {
	r.fields = append(r.fields, fault.Field{In: "body", Path: path, Code: code, Message: message})
}

// check finds out what reports belong to, as far as it is there, and what they name
// their records by. It stores nothing. A report with a fault is marked and left out of
// what follows. Afterwards reports have lost what the organization does not want to have
// stored: a record is named by what was sent, so that two of them stay two.
func (s *Service) check(ctx context.Context, org principal.OrgID, red *redact.Redactor, reports []*report) error {
	for _, r := range reports {
		clean.Names(red, &r.draft)
	}
	if err := s.linkTraces(ctx, org, reports); err != nil {
		return err
	}
	if err := s.linkRecords(ctx, org, reports); err != nil {
		return err
	}
	for _, r := range reports {
		if r.draft.Kind.Name == Approvals {
			if err := s.Name(ctx, org, r.draft.Values); err != nil {
				return err
			}
		}
		if r.draft.Kind.Name == Effects && effect.Look(ctx, nil, r.draft.Values) != nil {
			r.refuse("/verification/method", "not_a_person", "only a person can report a check by a person: use a personal key, without X-On-Behalf-Of")
		}
		if r.draft.Kind.Name == "failures" && r.draft.Values["failure_key"] == nil {
			r.draft.Values["failure_key"] = kind.TextValue(fingerprint(r.draft.Values, r.links))
		}
		if r.untimed {
			delete(r.draft.Values, "occurred_at") // it is noted
		}
		if r.Key == (key{}) {
			r.identity = record.Identify(r.draft, r.links, r.header)
		}
		for name := range record.Columns {
			if !record.Own(r.draft.Kind, name) {
				delete(r.draft.Values, name)
			}
		}
		var sent kind.Values
		if r.draft.Kind.Name == Effects {
			sent = maps.Clone(r.draft.Values)
		}
		clean.Draft(red, &r.draft, r.strict)
		if sent != nil {
			r.blurred = effect.Blurred(sent, r.draft.Values)
		}
		r.name = clean.Text(red, r.name)
	}
	return nil
}

// attach gives the traces that reports mention their numbers, and finds the runtimes and
// connectors that they name. What is not known is added. It returns the runtimes by key.
func (s *Service) attach(ctx context.Context, org principal.OrgID, reports []*report) (runtimes map[string]Record, err error) {
	mentioned := map[span.TraceID]bool{}
	for _, r := range reports {
		if r.links.Trace != (span.TraceID{}) {
			mentioned[r.links.Trace] = true
		}
	}
	ids := slices.Collect(maps.Keys(mentioned))
	if err := s.traces.Mention(ctx, org, ids); err != nil {
		return nil, err
	}
	numbers, err := s.traces.Numbers(ctx, org, ids)
	if err != nil {
		return nil, err
	}
	for _, r := range reports {
		r.number = numbers[r.links.Trace]
	}
	if runtimes, err = s.linkThings(ctx, org, reports); err != nil {
		return nil, err
	}
	for _, r := range reports {
		if classless(r) {
			classify(r, Record{})
		}
	}
	return runtimes, nil
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

// linkTraces settles the traces of reports.
func (s *Service) linkTraces(ctx context.Context, org principal.OrgID, reports []*report) error {
	known := map[int64]span.TraceID{}
	for _, r := range sound(reports) {
		v := r.draft.Values
		r.occurred, r.name = v.Time("occurred_at"), v.Text("idempotency_key")
		r.links.EvaluationRunID = v.Integer("evaluation_run_id")
		r.links.RuntimeKey, r.links.ConnectorKey = v.Text("runtime_key"), v.Text("connector_key")
		if err := s.linkTrace(ctx, org, r, known); err != nil {
			return err
		}
		if id := v.Text("span_id"); id != "" {
			if _, ok := span.ParseID(id); !ok {
				r.refuse("/span_id", "pattern", "must be 16 hexadecimal digits that are not all zero")
			}
		}
	}
	return nil
}

// linkTrace settles the trace of one report. Known are numbers that were asked for
// before.
func (s *Service) linkTrace(ctx context.Context, org principal.OrgID, r *report, known map[int64]span.TraceID) error {
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
		if id, ok = known[n]; !ok {
			if id, err = s.traces.Numbered(ctx, org, n); err != nil && !fault.IsNotFound(err) {
				return err
			}
			known[n] = id
		}
		if id == (span.TraceID{}) {
			r.refuse("/trace_id", "unknown_reference", "there is no trace with this number")
			return nil
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
	found, err := s.store.Targets(ctx, org, ids)
	if err != nil {
		return err
	}
	streamed, err := s.store.stream.Kinds(ctx, org, kinds, ids)
	if err != nil {
		return err
	}
	for id, name := range streamed {
		found[id] = statedb.Target{Kind: name}
	}
	each(func(r *report, f *kind.Field, id int64) {
		other, ok := found[id]
		switch {
		case !ok || other.Kind != f.Of:
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
func (r *report) same(field string, key *string, thing statedb.Target) {
	if *key != "" && *key != thing.Name {
		r.refuse("/"+field, "mutually_exclusive", "is the key of another record than the id that is given")
	}
	*key = thing.Name
}

// linkThings finds the runtimes and connectors that reports name by their keys, and adds
// those that are not known. It returns the runtimes.
func (s *Service) linkThings(ctx context.Context, org principal.OrgID, reports []*report) (runtimes map[string]Record, err error) {
	for _, field := range []string{"runtime_key", "connector_key"} {
		k := kind.Must(thingOf[field])
		names := map[string]bool{}
		for _, r := range sound(reports) {
			if name, id := r.thing(field); *name != "" && !record.Own(r.draft.Kind, field) && (*id == 0 || classless(r)) {
				names[*name] = true
			}
		}
		if len(names) == 0 {
			continue
		}
		known, err := s.known(ctx, org, k, slices.Sorted(maps.Keys(names)))
		if err != nil {
			return nil, err
		}
		if field == "runtime_key" {
			runtimes = known
		}
		for _, r := range sound(reports) {
			name, id := r.thing(field)
			if record.Own(r.draft.Kind, field) || *name == "" {
				continue
			}
			if *id == 0 {
				*id = known[*name].ID
			}
			if field == "connector_key" {
				classify(r, known[*name])
			}
		}
	}
	return runtimes, nil
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
	found, err := s.store.Things(ctx, s.db.Org(org), org, k.Name, names)
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
			found[r.Values.Text(k.KeyField)] = r
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
	r := newReport(k.Name, v, record.Ingested, Links{})
	r.stub = true
	return r
}
