package evaluation

import (
	"context"
	"errors"
	"fmt"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Ticket names a run in workflows and promises.
type Ticket struct {
	Org principal.OrgID `json:"org"`
	Run int64           `json:"run"`
}

// begin fixes what a run works on: the dataset's version, its items and their
// order. Doing it again changes nothing. An error that stopOf knows means that the run cannot
// work; a run that has ended is returned as it is.
func (s *Service) begin(ctx context.Context, t Ticket) (Run, error) {
	r, err := s.store.findRun(ctx, s.db.Org(t.Org), t.Org, t.Run)
	if err != nil || r.Status != StatusRunning || r.Resolved != nil {
		return r, err
	}
	if err := s.ready(ctx, t.Org, r.Request.Plan); err != nil {
		return r, err
	}
	d, v, err := s.snapshot(ctx, t, r.Request)
	if err != nil {
		return r, err
	}
	items, err := s.draw(ctx, t.Org, d.ID, v, r)
	if err != nil {
		return r, err
	}
	resolved := Resolved{
		Dataset: d.ID, Version: v.Number, VersionDigest: v.Digest.String(), Items: len(items), Units: len(items) * r.Request.Repetitions,
		Seed: scoring.Seed(r.Request.Seed, r.ID), ConfigDigest: r.Request.Plan.Digest(v.Digest.String(), r.Request.Repetitions, r.Request.ClusterKey),
	}
	if why := tooMany(len(items), r.Request.Repetitions); why != nil {
		return r, why
	}
	if err := s.checkClusters(ctx, t.Org, d.ID, v.Number, r.Request.ClusterKey, items); err != nil {
		return r, err
	}
	if err := s.copyAnswers(ctx, t.Org, r, items); err != nil {
		return r, err
	}
	err = postgres.InTx(ctx, s.db, t.Org, func(tx postgres.Tx) error {
		ok, err := s.store.resolveTx(ctx, tx, t.Run, resolved, s.now())
		if err != nil || !ok {
			return err // cancelled meanwhile: it holds nothing; or begun by another
		}
		if err := s.store.putItemsTx(ctx, tx, t.Run, items); err != nil {
			return err
		}
		// Who ends a run that has begun lets go of its dataset.
		return s.datasets.HoldTx(ctx, tx, d.ID, holder(t.Run))
	})
	if errors.Is(err, dataset.ErrNotFound) {
		return r, &RunError{CodeDatasetNotFound, "The dataset " + r.Request.DatasetID + " does not exist."}
	}
	if err != nil {
		return r, err
	}
	failpoint.Hit(RunResolved)
	return s.store.findRun(ctx, s.db.Org(t.Org), t.Org, t.Run)
}

// tooMany is why a run of so many items cannot begin, or nil.
func tooMany(items, repetitions int) *RunError {
	if items*repetitions <= maxUnits {
		return nil
	}
	return &RunError{CodeTooManyUnits, fmt.Sprintf("%d items in %d repetitions are %d executions, and one run does %d at most. Take a sample with sampleSize, or repeat less often.",
		items, repetitions, items*repetitions, maxUnits)}
}

// ready finds out what a plan names before anything is executed.
func (s *Service) ready(ctx context.Context, org principal.OrgID, p scoring.Plan) error {
	_, missing, err := p.Measures(s.metrics)
	if err != nil {
		return &RunError{CodeMetricUnresolved, err.Error()}
	}
	if len(missing) > 0 {
		return &RunError{missing[0].Code, missing[0].Message}
	}
	if _, _, err = p.Askers(ctx, s.provider, org, func() *provider.Pace { return nil }, nil); err != nil {
		return err
	}
	for _, j := range p.Judged {
		if _, err := s.judges.Version(ctx, org, j.Judge, j.Version, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// snapshot finds the dataset and the version that the run is to use.
func (s *Service) snapshot(ctx context.Context, t Ticket, want Request) (d dataset.Dataset, v dataset.Version, err error) {
	d, err = s.findDataset(ctx, t.Org, want.DatasetID)
	if errors.Is(err, dataset.ErrNotFound) {
		return d, v, &RunError{CodeDatasetNotFound, "The dataset " + want.DatasetID + " does not exist."}
	}
	if err != nil {
		return d, v, err
	}
	err = postgres.InTx(ctx, s.db, t.Org, func(tx postgres.Tx) error {
		if want.DatasetVersion == 0 {
			v, err = s.datasets.SnapshotTx(ctx, tx, d.ID, fmt.Sprintf("for run %d", t.Run))
		} else {
			v, err = s.datasets.FindVersionTx(ctx, tx, d.ID, want.DatasetVersion)
		}
		return err
	})
	if f, ok := fault.From(err); ok && f.Kind != fault.Unavailable {
		return d, v, &RunError{CodeDatasetNotFound, f.Message}
	}
	if err == nil && v.ItemCount == 0 {
		err = &RunError{CodeDatasetEmpty, fmt.Sprintf("Version %d of dataset %d has no items.", v.Number, d.ID)}
	}
	return d, v, err
}

// draw reads the version's items and puts them in the run's order: a random
// one, so that what is done first is a fair sample of the whole.
func (s *Service) draw(ctx context.Context, org principal.OrgID, id int64, v dataset.Version, r Run) ([]int64, error) {
	const page = 50_000
	all := make([]int64, 0, v.ItemCount)
	var above int64
	for {
		ids, err := s.datasets.ItemIDs(ctx, org, id, v.Number, above, page)
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
		if len(ids) < page {
			break
		}
		above = ids[len(ids)-1]
	}
	scoring.Shuffle(all, scoring.Seed(r.Request.Seed, r.ID))
	if n := r.Request.SampleSize; n > 0 && n < len(all) {
		all = all[:n]
	}
	return all, nil
}

// checkClusters refuses a key that no item has: its intervals would be those of
// independent items, and nobody would see it.
func (s *Service) checkClusters(ctx context.Context, org principal.OrgID, set int64, version int, key string, ids []int64) error {
	if key == "" {
		return nil
	}
	matched := false
	err := s.eachItem(ctx, org, set, version, ids, func(item dataset.Item) bool {
		matched = scoring.Cluster(item, key) != ""
		return !matched
	})
	if err == nil && !matched {
		return &RunError{CodeClusterKey, "No item has the key " + key + " in its labels, context or input, so items cannot be grouped by it. Check its spelling."}
	}
	return err
}
