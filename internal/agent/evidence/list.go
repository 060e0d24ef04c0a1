package evidence

import (
	"context"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Find returns one record.
func (s *Service) Find(ctx context.Context, org principal.OrgID, k *kind.Kind, id int64) (Record, error) {
	if k.Class == kind.State {
		r, err := s.store.Find(ctx, s.db.Org(org).Lookup(), org, k, id)
		if err != nil {
			return Record{}, err
		}
		return s.numbered(ctx, org, r)
	}
	all, err := s.store.stream.Some(ctx, org, []kind.Name{k.Name}, []int64{id})
	if err != nil {
		return Record{}, err
	}
	if len(all) == 0 {
		return Record{}, ErrNotFound
	}
	return s.numbered(ctx, org, all[0])
}

// List returns a page of records, newest first, and whether others follow. It ends with the
// record that fills record.PageBytes.
func (s *Service) List(ctx context.Context, org principal.OrgID, l List) (page []Record, more bool, total int64, err error) {
	if l.Nothing || len(l.Inapplicable) > 0 {
		return nil, false, 0, nil
	}
	if l, err = s.resolve(ctx, org, l); err != nil || l.Nothing {
		return nil, false, 0, err
	}
	if page, more, total, err = s.store.list(ctx, org, l); err != nil {
		return nil, false, 0, err
	}
	return page, more, total, s.number(ctx, org, page)
}

// resolve replaces conditions on what names or points to the records, or what they belong
// to, by conditions on ids.
func (s *Service) resolve(ctx context.Context, org principal.OrgID, l List) (List, error) {
	l.Filters = slices.Clone(l.Filters)
	for i, f := range l.Filters {
		column := "id"
		var ids []int64
		var err error
		switch {
		case f.Column == "runtime_key":
			column = kind.FieldRuntimeID
			ids, err = s.named(ctx, org, kind.Runtimes, f.Values, func(r Record) int64 { return r.ID })
		case f.Column == "connector_key":
			column = kind.FieldConnectorID
			ids, err = s.named(ctx, org, kind.Connectors, f.Values, func(r Record) int64 { return r.ID })
		case f.Column == "report_key":
			ids, err = s.named(ctx, org, kind.ConnectorReadinessReports, f.Values, func(r Record) int64 { return r.ConnectorID })
		case f.Column == "report_id" && l.Kind.Name == kind.Connectors:
			ids, err = s.pointed(ctx, org, kind.ConnectorReadinessReports, f.Values, func(r Record) int64 { return r.ConnectorID })
		case f.Column == "effect_id" && l.Kind.Name == kind.ToolInvocationEvidence:
			ids, err = s.pointed(ctx, org, kind.SideEffectLedger, f.Values, func(r Record) int64 { return r.Values.ToolInvocationEvidenceID() })
		default:
			continue
		}
		if ids = slices.DeleteFunc(ids, func(id int64) bool { return id == 0 }); err != nil || len(ids) == 0 {
			l.Nothing = true
			return l, err
		}
		slices.Sort(ids)
		l.Filters[i] = record.Filter{Column: column, Values: slices.Compact(ids)}
	}
	return l, nil
}

// named are ids that records of a kind have, which are found by their keys.
func (s *Service) named(ctx context.Context, org principal.OrgID, k kind.Name, keys any, id func(Record) int64) (ids []int64, err error) {
	names, _ := keys.([]string)
	found, err := s.store.Things(ctx, s.db.Org(org), org, k, names)
	for r := range maps.Values(found) {
		ids = append(ids, id(r))
	}
	return ids, err
}

// pointed are ids that records of a kind have, which are found by their own ids.
func (s *Service) pointed(ctx context.Context, org principal.OrgID, k kind.Name, of any, id func(Record) int64) (ids []int64, err error) {
	own, _ := of.([]int64)
	found, err := s.store.FindAll(ctx, org, own)
	for _, r := range found {
		if r.Kind.Name == k {
			ids = append(ids, id(r))
		}
	}
	return ids, err
}

// number finds out the numbers of the traces that records belong to.
func (s *Service) number(ctx context.Context, org principal.OrgID, page []Record) error {
	var traces []span.TraceID
	for _, r := range page {
		if r.Trace != (span.TraceID{}) {
			traces = append(traces, r.Trace)
		}
	}
	numbers, err := s.traces.Numbers(ctx, org, traces)
	for i := range page {
		page[i].Number = numbers[page[i].Trace]
	}
	return err
}

func (s *Service) numbered(ctx context.Context, org principal.OrgID, r Record) (Record, error) {
	one := []Record{r}
	err := s.number(ctx, org, one)
	return one[0], err
}
