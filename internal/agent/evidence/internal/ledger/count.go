package ledger

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/effect"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Count says what traces did to the world. A trace that did nothing is not in the map.
func (s Store) Count(ctx context.Context, org principal.OrgID, traces []span.TraceID) (map[span.TraceID]metric.Effects, error) {
	rows, err := s.Effects(ctx, org, traces)
	if err != nil {
		return nil, err
	}
	out := map[span.TraceID]metric.Effects{}
	for _, r := range rows {
		v := kind.Values{kind.FieldState: kind.TextValue(r.State), kind.FieldSideEffectClass: kind.TextValue(r.Class)}
		if r.Looked {
			v[kind.FieldVerification] = jsontext.Value("{}")
		}
		if effect.Harmless(v) || !effect.Dispatched(v) {
			continue
		}
		e := out[r.Trace]
		e.Sent += r.Number
		switch {
		case r.Overdue: // too late, whatever is found out about it
		case effect.Known(v):
			e.Verified += r.Number
		case effect.Unsettled(v):
			e.Open += r.Number
		}
		out[r.Trace] = e
	}
	return out, nil
}
