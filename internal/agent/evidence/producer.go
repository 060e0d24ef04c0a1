package evidence

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/internal/clean"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// noteProducer notes what a producer says about itself, and now and then that it was heard of.
// Known are the runtimes that were found for its events.
func (s *intake) noteProducer(ctx context.Context, org principal.OrgID, red *redact.Redactor, p Producer, known map[string]Record) (err error) {
	p.RuntimeKey = clean.Text(red, p.RuntimeKey)
	if len(known) == 0 { // all were received before
		if known, err = s.store.Things(ctx, s.db.Org(org), org, "runtimes", []string{p.RuntimeKey}); err != nil {
			return err
		}
	}
	v := kind.Values{"runtime_key": kind.TextValue(p.RuntimeKey)}
	was, there := known[p.RuntimeKey]
	for name, text := range map[string]string{"name": p.Name, "agent_version": p.Version, "environment": p.Environment} {
		if text != "" && (name != "environment" || was.Values.Text(name) == "") { // which stays as it is
			v[name] = kind.TextValue(clean.Text(red, text))
		}
	}
	news := slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(name string) bool { return !bytes.Equal(v[name], was.Values[name]) })
	if !there || !news && s.now().Sub(was.Values.Time("last_seen_at")) < heardEvery {
		return nil
	}
	r := newReport("runtimes", v, record.Ingested, Links{})
	_, err = s.storeReports(ctx, org, []*report{r}, nil)
	return err
}
