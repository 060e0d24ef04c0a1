package evidence

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/effect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// errInvalid is what a caller sees of a report that its kind refuses.
var errInvalid = fault.New(fault.Validation, "invalid_request", "The request is invalid.")

// Posted is a report that is ready to be stored.
type Posted struct {
	report  *report
	Ignored []string
	sent    []byte // digest of all that was sent
}

// Post reads what a caller reports about one record, and says which of the fields were
// ignored because only the platform sets them. Reporting the same again has no effect.
func (s *Service) Post(ctx context.Context, org principal.OrgID, k *kind.Kind, body jsontext.Value, header string) (p Posted, err error) {
	if !k.Postable() {
		return Posted{}, ErrNotWritable.With("use", k.Use)
	}
	draft, fields := kind.Read(k, body, false)
	if fields = append(fields, demands(draft)...); len(fields) > 0 {
		return Posted{}, errInvalid.WithFields(fields...)
	}
	if k.Name == kind.SideEffectLedger {
		if err := effect.Look(ctx, nil, draft.Values); err != nil {
			return Posted{}, err
		}
	}
	red, err := s.traces.Redactor(ctx, org)
	if err != nil {
		return Posted{}, err
	}
	sent := record.ContentOf(draft.Values)
	one := parseReport(normal.Report{Draft: draft}, record.Reported)
	one.format = normal.FormatNative
	known, err := s.linkReports(ctx, org, terms{red: red, header: header}, []parsed{one})
	if err != nil {
		return Posted{}, err
	}
	if faults := known[0].faults; len(faults) > 0 {
		return Posted{}, errInvalid.WithFields(faults...)
	}
	reports, err := s.completeReports(ctx, org, known)
	if err != nil {
		return Posted{}, err
	}
	return Posted{report: reports[0], Ignored: draft.Ignored, sent: sent}, nil
}

// storePostedTx stores a report of a thing that lasts. Refuse are the dispatches of side
// effects that the caller wants to have refused.
func (s *Service) storePostedTx(ctx context.Context, tx postgres.Tx, p Posted, refuse []string) (Record, error) {
	all, err := s.putTx(ctx, tx, []*report{p.report})
	made := all[p.report]
	switch {
	case err != nil:
		return Record{}, err
	case made.fate == nameReused:
		return Record{}, ErrKeyReused
	case p.report.draft.Values.State() == "dispatched":
		return made.Record, effect.Refuse(&made.Record, made.fate == recordKnown, refuse)
	}
	return made.Record, nil
}

// storePosted stores a report of what happened, with the failures that it shows.
func (s *Service) storePosted(ctx context.Context, org principal.OrgID, p Posted) (made Record, err error) {
	r, held := p.report, lease{org: org}
	if r.Alone {
		ids, err := s.store.IDs(ctx, s.db.Org(org), 1)
		if err != nil {
			return Record{}, err
		}
		held.claims = map[key]claim{r.Key: {ID: ids[0], Fresh: true}}
	} else {
		request, wanted := record.Hashed("request", string(r.Key[:]), string(p.sent)), map[key]want{r.Key: {Content: r.Content}}
		held, err = s.leaseKeys(ctx, org, request, wanted, func(claims map[key]claim) error {
			if !bytes.Equal(r.Content, claims[r.Key].Content) {
				return ErrKeyReused
			}
			return nil
		})
		if err != nil {
			return Record{}, err
		}
	}
	err = s.underLease(ctx, held, func(ctx context.Context) error {
		all, err := s.storeReports(ctx, org, []*report{r}, held.claims)
		made = all[r].Record
		return err
	})
	return made, err
}
