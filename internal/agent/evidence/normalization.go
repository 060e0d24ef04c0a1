package evidence

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/statedb"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Again says which events are read again.
type Again string

// What can be read again.
const (
	Outdated Again = "outdated" // those that no mapping of this release has read
	Every    Again = "all"
)

// Normalization is stored events that are read again with the mappings of this release.
type Normalization = statedb.Normalization

// TopicNormalize is published when events are to be read again.
const TopicNormalize = "evidence.normalize"

// Normalization returns one of the organization.
func (s *Service) Normalization(ctx context.Context, org principal.OrgID, id int64) (Normalization, error) {
	return s.store.Normalization(ctx, org, id)
}

// normalizeTx has events read again, unless they are being read: an organization has one
// normalization at a time.
func (s *Service) normalizeTx(ctx context.Context, tx postgres.Tx, events Again) (Normalization, error) {
	n, made, err := s.store.InsertNormalizationTx(ctx, tx, string(events), principal.ActorOf(ctx), s.now())
	if err != nil || !made {
		return n, err
	}
	id := strconv.FormatInt(n.ID, 10)
	if err := s.log.AuditTx(ctx, tx, change.Entry{Event: eventNormalization, ID: id, After: toNormalizationBody(n)}); err != nil {
		return Normalization{}, err
	}
	return n, s.log.PublishTx(ctx, tx, TopicNormalize, id, Renormalize{Org: tx.Org, ID: n.ID})
}

// pageOfEvents is how many events are read again at once, each of up to 256 KiB.
const pageOfEvents = 100

// advance reads a page of events again, and reports whether it was the last.
func (s *Service) advance(ctx context.Context, org principal.OrgID, id int64) (done bool, err error) {
	n, err := s.store.Normalization(ctx, org, id)
	if err != nil || n.State != "running" {
		return err == nil, err
	}
	// Events that come meanwhile are read by the mappings of this release as they come.
	page, last, err := s.store.stream.EventsAfter(ctx, org, n.Position, n.ID, n.Events == string(Outdated), pageOfEvents)
	if err != nil {
		return false, err
	}
	if last == 0 {
		return true, s.store.EndNormalization(ctx, org, id, s.now())
	}
	read, changed, refused, err := s.again(ctx, org, page)
	if err != nil {
		return false, err
	}
	if read < len(page) {
		last = page[read-1].ID
	}
	before := n.Position
	n.Position, n.UpdatedAt = last, s.now()
	n.Read, n.Changed, n.Refused = int64(read), changed, refused
	return false, s.store.MoveNormalization(ctx, org, n, before)
}

// again reads stored events again, as many as report no more than a request may. What they
// say is added to what is known: a record is found by the names that it had the first time,
// and nothing that it says is replaced.
func (s *Service) again(ctx context.Context, org principal.OrgID, page []Record) (read int, changed, refused int64, err error) {
	red, err := s.traces.Redactor(ctx, org)
	if err != nil {
		return 0, 0, 0, err
	}
	reports := 0
	was := make(map[*arrival]Record, len(page))
	var events []event[parsed]
	for i, r := range page {
		e, ok := reread(i, r)
		if ok {
			if reports += len(e.reports); reports > MaxReports && i > 0 {
				break
			}
		}
		read = i + 1
		switch {
		case !ok:
		case e.Status == Rejected:
			refused++
		case len(e.reports) > 0:
			was[e.arrival] = r
			events = append(events, e)
		}
	}
	known, err := s.linkEvents(ctx, org, terms{red: red}, events)
	if err != nil {
		return read, 0, refused, err
	}
	held, err := s.claimEvents(ctx, org, &Envelope{}, known)
	if err != nil {
		return 0, 0, refused, err
	}
	refused += int64(len(events) - len(held.events))
	err = s.underLease(ctx, held.lease, func(ctx context.Context) error {
		reports, err := s.completeReports(ctx, org, all(held.events))
		if err != nil {
			return err
		}
		events := next(held.events, reports)
		missing, err := s.storeSaid(ctx, org, events, held.claims)
		if err != nil {
			return err
		}
		var rows []*Record
		for _, e := range accepted(events) {
			if r, news := e.mapped(was[e.arrival], missing[e.arrival], s.now()); news {
				rows = append(rows, &r)
			}
		}
		changed = int64(len(rows))
		return s.store.stream.Append(ctx, org, rows, uint16(s.cfg.RetentionDays))
	})
	return read, changed, refused, err
}

// reread is a stored event as it was received. It is not read again if its payload was not
// stored, or if it has made records and something of it was redacted: their names may
// have been among that.
func reread(index int, r Record) (e event[parsed], ok bool) {
	v := r.Values
	made, ok := madeOf(v)
	if !ok || v[kind.FieldPayload] == nil || len(made) > 0 && v[kind.FieldRedactions] != nil {
		return e, false
	}
	var at setting
	_ = json.Unmarshal(v[kind.FieldAttributes], &at) // none if there is nothing to add
	a := &arrival{Outcome: &Outcome{Index: index, ID: v.EventID(), Status: Accepted, RawEvent: r.ID}, Event: normal.Event{
		ID: v.EventID(), Source: v.Text(kind.FieldSource), Type: v.Type(), Subject: at.Subject, Traceparent: at.Traceparent,
		Format: normal.Format(v.Format()), Time: r.OccurredAt, Data: v[kind.FieldPayload],
	}}
	e = event[parsed]{arrival: a, reports: a.parse(Producer{RuntimeKey: r.RuntimeKey}, Defaults{
		TraceID: at.TraceID, ConversationID: at.ConversationID, ReleaseID: at.ReleaseID, EvaluationRunID: at.EvaluationRunID,
	}, at.Untimed)}
	e.self = parsed{draft: kind.Draft{Kind: r.Kind, Values: kind.Values{kind.FieldRuntimeKey: kind.TextValue(r.RuntimeKey)}}, event: r.Key}
	sender := r.Actor.Caller()
	for i := range e.reports {
		e.reports[i].policy |= fillOnly
		e.reports[i].sender = &sender
	}
	return e, true
}

// madeOf are the records that a stored event is about.
func madeOf(v kind.Values) (made []Ref, ok bool) {
	ok = v[kind.FieldRecords] == nil || json.Unmarshal(v[kind.FieldRecords], &made) == nil
	return made, ok
}

// mapped is the stored event with what became of it now, and whether that is news.
func (a *arrival) mapped(r Record, missing int, now time.Time) (Record, bool) {
	before := r.Values
	r.Values = maps.Clone(before)
	if a.Status == Unmapped {
		return r, false // what it adds to is not there
	}
	made, ok := madeOf(before)
	if !ok {
		return r, false
	}
	for _, ref := range a.Records {
		if !slices.Contains(made, ref) {
			made = append(made, ref)
		}
	}
	text, err := json.Marshal(made)
	if err != nil {
		return r, false
	}
	r.Values[kind.FieldRecords] = text
	if a.note(r.Values, missing) != nil {
		return r, false
	}
	for _, name := range []string{kind.FieldStatus, kind.FieldRecords, kind.FieldFormat, kind.FieldNormalizerVersion, kind.FieldErrors} {
		if !bytes.Equal(before[name], r.Values[name]) {
			r.Version, r.UpdatedAt = r.Version+1, now
			return r, true
		}
	}
	return r, false
}
