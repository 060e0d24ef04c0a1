package evaluation

import (
	"context"
	"strings"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// judgeNames are the keys and ids of the judges that a plan names.
func judgeNames(p scoring.Plan) (keys []string, ids []int64) {
	for _, name := range p.Metrics {
		if key, ok := strings.CutPrefix(name, judge.MetricPrefix); ok {
			keys = append(keys, key)
		}
	}
	return keys, p.Judges
}

// judged is an evaluation whose plan has the judges that it names as they are now.
func (s *Service) judged(ctx context.Context, org principal.OrgID, e Evaluation) (Evaluation, error) {
	keys, ids := judgeNames(e.Plan)
	if len(keys)+len(ids) == 0 {
		return e, nil
	}
	found, err := s.judges.Named(ctx, org, keys, ids)
	e.Plan = e.Plan.WithJudges(toJudged(found))
	return e, err
}

// judgedTx is judged within a transaction.
func (s *Service) judgedTx(ctx context.Context, tx postgres.Tx, e Evaluation) (Evaluation, error) {
	keys, ids := judgeNames(e.Plan)
	if len(keys)+len(ids) == 0 {
		return e, nil
	}
	found, err := s.judges.NamedTx(ctx, tx, keys, ids)
	e.Plan = e.Plan.WithJudges(toJudged(found))
	return e, err
}

// toJudged are the judges that can be used, as a plan has them.
func toJudged(found []judge.Config) (all []scoring.Judged) {
	for _, c := range found {
		if c.Status == judge.StatusActive {
			all = append(all, scoring.Judged{Metric: c.Metric(), Judge: c.ID, Version: c.Current.Number, Binary: c.Current.Spec.Binary(), Summary: c.Name})
		}
	}
	return all
}
