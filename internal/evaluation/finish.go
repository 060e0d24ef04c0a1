package evaluation

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/score"
	"github.com/assayhq/assay/internal/stat"
)

// Outcome is what came out of a run. It is made from the results themselves,
// not from counters.
type Outcome struct {
	Overall *float64           `json:"overall"`
	Metrics map[string]float64 `json:"metrics"`

	Items   int `json:"items"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Errored int `json:"errored"`
	Skipped int `json:"skipped"`

	Calls        int64 `json:"calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	CostNanoUSD  int64 `json:"cost_nano_usd"`

	Statistics Statistics `json:"statistics"`
}

// Statistics are the same figures with what is needed to judge them.
type Statistics struct {
	Overall    stat.Estimate            `json:"overall"`
	PassRate   stat.Estimate            `json:"pass_rate"`
	Metrics    map[string]stat.Estimate `json:"metrics"`
	Resolution *stat.Resolution         `json:"resolution,omitzero"`
}

// conclude ends a run: as completed, or as failed if there is a reason. A run
// that was cancelled stays so. Doing it again changes nothing.
func (s *Service) conclude(ctx context.Context, t Ticket, why *RunError) error {
	r, err := s.store.findRun(ctx, s.db.Org(t.Org), t.Org, t.Run)
	if err != nil {
		return err
	}
	if r.Status == StatusRunning {
		if err := s.store.setPhase(ctx, t.Org, t.Run, PhaseAggregating, s.now()); err != nil {
			return err
		}
	}
	o, err := s.aggregate(ctx, t.Org, r)
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.RunConcluding)
	err = postgres.InTx(ctx, s.db, t.Org, func(tx postgres.Tx) error {
		before, err := s.store.lockRunTx(ctx, tx, t.Run)
		if err != nil {
			return err
		}
		if before.Status == StatusRunning {
			to := StatusCompleted
			if why != nil {
				to = StatusFailed
			}
			after, err := s.endTx(ctx, tx, before, to, why)
			if err != nil {
				return err
			}
			if err := s.auditTx(ctx, tx, "run."+string(to), "run", t.Run, before, after); err != nil {
				return err
			}
		}
		return s.store.setOutcomeTx(ctx, tx, t.Run, o, s.now())
	})
	if err == nil {
		failpoint.Hit(failpoint.RunConcluded)
	}
	return err
}

// aggregate computes a run's figures from its results.
func (s *Service) aggregate(ctx context.Context, org principal.OrgID, r Run) (Outcome, error) {
	o := Outcome{Metrics: map[string]float64{}, Statistics: Statistics{Metrics: map[string]stat.Estimate{}}}
	if r.Resolved == nil {
		o.Statistics.Overall, o.Statistics.PassRate = mustMean(nil), mustMean(nil)
		return o, nil
	}
	var all Count
	var passes []stat.Row
	err := s.scores.Briefs(ctx, r.at(org), func(b score.Brief) error {
		all.add(b)
		if b.Status != score.StatusSkipped {
			row := stat.Row{Item: strconv.FormatInt(b.Item, 10), Epoch: b.Epoch}
			if b.Status == score.StatusPassed {
				row.Score = 1
			}
			passes = append(passes, row)
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	o.Items, o.Passed, o.Failed, o.Errored, o.Skipped = all.Passed+all.Failed, all.Passed, all.Failed, all.Errored, all.Skipped
	o.Calls, o.InputTokens, o.OutputTokens, o.CostNanoUSD = all.Calls, all.InputTokens, all.OutputTokens, all.CostNanoUSD
	overall, err := s.Rows(ctx, org, r, "")
	if err != nil {
		return o, err
	}
	clusters := make(map[string]string, len(overall))
	for _, row := range overall {
		clusters[row.Item] = row.Cluster
	}
	for i := range passes {
		passes[i].Cluster = clusters[passes[i].Item]
	}
	if o.Statistics.PassRate, err = stat.PassRate(passes, stat.Options{Range: stat.Unit(), Source: stat.SourceCode}); err != nil {
		return o, fmt.Errorf("pass rate: %w", err)
	}
	if o.Statistics.Overall, err = stat.Mean(overall, stat.Options{Range: stat.Unit(), Source: stat.SourceCode}); err != nil {
		return o, fmt.Errorf("overall: %w", err)
	}
	o.Overall = o.Statistics.Overall.Value
	if o.Statistics.Resolution, err = stat.Resolve(o.Statistics.Overall, stat.Options{Range: stat.Unit()}, resolutionTargets(r)); err != nil {
		return o, fmt.Errorf("resolution: %w", err)
	}
	measures, err := s.measuresOf(r)
	if err != nil {
		return o, err
	}
	of := &side{run: r, overall: overall}
	for _, m := range measures {
		rows, err := s.metricRows(ctx, org, of, m.Name)
		if err != nil {
			return o, err
		}
		e, err := estimate(m.Definition, rows)
		if err != nil {
			return o, fmt.Errorf("%s: %w", m.Name, err)
		}
		o.Statistics.Metrics[m.Name] = e
		if e.Value != nil {
			o.Metrics[m.Name] = *e.Value
		}
	}
	return o, nil
}

// resolutionTargets are the differences that a reader may want to see.
func resolutionTargets(r Run) []float64 {
	if m := r.Request.Margin; m != nil {
		return []float64{*m}
	}
	return []float64{0.01, 0.03, 0.05}
}

func mustMean(rows []stat.Row) stat.Estimate {
	e, err := stat.Mean(rows, stat.Options{Range: stat.Unit(), Source: stat.SourceCode})
	if err != nil {
		panic("evaluation: the mean of nothing: " + err.Error())
	}
	return e
}

// estimate sums a metric's scores up in the way that fits its kind.
func estimate(m metric.Definition, rows []stat.Row) (stat.Estimate, error) {
	o := stat.Options{Range: rangeOf(m), Source: stat.SourceCode}
	if m.Kind == metric.Binary {
		return stat.PassRate(rows, o)
	}
	return stat.Mean(rows, o)
}

func rangeOf(m metric.Definition) *stat.Range {
	if m.Low == nil || m.High == nil {
		return nil
	}
	return &stat.Range{Lower: *m.Low, Upper: *m.High}
}

// Rows are the scores of one metric of a run, or its overall scores if metric
// is empty, in the form that statistics take.
func (s *Service) Rows(ctx context.Context, org principal.OrgID, r Run, name string) ([]stat.Row, error) {
	measures, err := s.scores.Measures(ctx, r.at(org), name)
	if err != nil {
		return nil, err
	}
	rows := make([]stat.Row, len(measures))
	for i, m := range measures {
		rows[i] = stat.Row{
			Item: strconv.FormatInt(m.Item, 10), Content: hex.EncodeToString(m.Content[:]), Cluster: m.Cluster, Epoch: m.Epoch,
			Score: m.Value, Missing: !m.Scored, Weight: m.Weight,
		}
	}
	return rows, nil
}
