package evaluation

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/internal/db"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// store reads and writes the domain's rows.
type store struct {
	db *postgres.DB
}

// encode is the JSON of a column. What the domain keeps always encodes.
func encode(v any) []byte {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("evaluation: %T does not encode: %v", v, err))
	}
	return text
}

// decode reads a column that may be null.
func decode[T any](text []byte) (*T, error) {
	if text == nil {
		return nil, nil
	}
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("read stored %T: %w", *v, err)
	}
	return v, nil
}

func number(v int) *int32 {
	if v == 0 {
		return nil
	}
	n := int32(v)
	return &n
}

func (s store) insertTx(ctx context.Context, tx postgres.Tx, e Evaluation) (Evaluation, error) {
	r, err := db.New(tx).InsertEvaluation(ctx, db.InsertEvaluationParams{
		OrgID: tx.Org, Name: e.Name, Description: e.Description, DatasetID: e.DatasetID, DatasetVersion: number(e.DatasetVersion),
		Plan: encode(e.Plan), Tags: e.Tags, Metadata: e.Metadata, CreatedBy: e.CreatedBy.String(), CreatedAt: e.CreatedAt,
	})
	if err != nil {
		return Evaluation{}, fmt.Errorf("insert evaluation: %w", err)
	}
	e.ID, e.Version = r.ID, r.Version
	return e, nil
}

func (s store) find(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Evaluation, error) {
	r, err := db.New(q).FindEvaluation(ctx, db.FindEvaluationParams{OrgID: org, ID: id})
	return postgres.DecodeOne(r, err, "find evaluation", ErrNotFound, fromRow)
}

// lockTx reads an evaluation that does not change until the transaction ends.
func (s store) lockTx(ctx context.Context, tx postgres.Tx, id int64) (Evaluation, error) {
	if _, err := db.New(tx).LockEvaluation(ctx, db.LockEvaluationParams{OrgID: tx.Org, ID: id}); err != nil {
		return Evaluation{}, postgres.Missing(err, "lock evaluation", ErrNotFound)
	}
	return s.find(ctx, tx, tx.Org, id)
}

func (s store) list(ctx context.Context, org principal.OrgID, f Filter) ([]Summary, int64, error) {
	q := db.New(s.db.Org(org))
	p := db.ListEvaluationsParams{
		OrgID: org, DatasetID: postgres.OrNull(f.DatasetID), Tag: postgres.OrNull(f.Tag), Search: postgres.OrNull(f.Search), Statuses: postgres.Texts(f.Statuses),
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore, Below: f.Below, RowLimit: int32(f.Limit) + 1, RowOffset: int32(f.Offset),
	}
	rows, err := q.ListEvaluations(ctx, p)
	if err != nil {
		return nil, 0, fmt.Errorf("list evaluations: %w", err)
	}
	total, err := q.CountEvaluations(ctx, db.CountEvaluationsParams{
		OrgID: org, DatasetID: p.DatasetID, Tag: p.Tag, Search: p.Search, Statuses: p.Statuses, CreatedAfter: p.CreatedAfter, CreatedBefore: p.CreatedBefore,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("count evaluations: %w", err)
	}
	all := make([]Summary, len(rows))
	for i, r := range rows {
		all[i] = Summary{
			ID: r.ID, Name: r.Name, DatasetID: r.DatasetID, Tags: r.Tags, Archived: r.ArchivedAt != nil, LatestRun: r.LatestRun,
			CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
			Status: statusOf(Evaluation{Archived: r.ArchivedAt, running: r.Running, latest: r.LatestStatus}),
		}
		if r.DatasetVersion != nil {
			all[i].DatasetVersion = int(*r.DatasetVersion)
		}
		if r.Overall != nil {
			if err := json.Unmarshal(r.Overall, &all[i].Overall); err != nil {
				return nil, 0, fmt.Errorf("read stored overall: %w", err)
			}
		}
	}
	return all, total, nil
}

// deleteTx hides an evaluation from every reader.
func (s store) deleteTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) error {
	n, err := db.New(tx).DeleteEvaluation(ctx, db.DeleteEvaluationParams{OrgID: tx.Org, ID: id, DeletedAt: &at})
	return postgres.Changed(n, err, "delete evaluation", ErrNotFound)
}

// runningTx are the ids of runs that are under way, at most limit of them.
func (s store) runningTx(ctx context.Context, tx postgres.Tx, evaluation int64, limit int) ([]int64, error) {
	ids, err := db.New(tx).RunningRuns(ctx, db.RunningRunsParams{OrgID: tx.Org, EvaluationID: evaluation, RowLimit: int32(limit)})
	return ids, postgres.Wrap(err, "find running runs")
}

// allRunning are the ids of runs of all evaluations that are under way.
func (s store) allRunning(ctx context.Context, on db.DBTX, org principal.OrgID, limit int32) ([]int64, error) {
	ids, err := db.New(on).AllRunningRuns(ctx, db.AllRunningRunsParams{OrgID: org, RowLimit: limit})
	return ids, postgres.Wrap(err, "find running runs")
}

func (s store) updateTx(ctx context.Context, tx postgres.Tx, before, after Evaluation) error {
	n, err := db.New(tx).UpdateEvaluation(ctx, db.UpdateEvaluationParams{
		OrgID: tx.Org, ID: before.ID, ExpectedVersion: before.Version, Name: after.Name, Description: after.Description,
		DatasetID: after.DatasetID, DatasetVersion: number(after.DatasetVersion), Plan: encode(after.Plan), Tags: after.Tags, Metadata: after.Metadata,
		ArchivedAt: after.Archived, BaselineRun: postgres.OrNull(after.Baseline), UpdatedAt: after.UpdatedAt,
	})
	return postgres.Changed(n, err, "update evaluation", ErrVersionConflict)
}

func fromRow(r db.FindEvaluationRow) (Evaluation, error) {
	measured, err := decode[scoring.Plan](r.Plan)
	if err != nil {
		return Evaluation{}, err
	}
	e := Evaluation{
		ID: r.ID, Name: r.Name, Description: r.Description, DatasetID: r.DatasetID, Plan: *measured, Tags: r.Tags, Metadata: r.Metadata,
		Archived: r.ArchivedAt, CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
		LatestRun: r.LatestRun, running: r.Running, latest: r.LatestStatus,
	}
	if r.DatasetVersion != nil {
		e.DatasetVersion = int(*r.DatasetVersion)
	}
	if r.BaselineRun != nil {
		e.Baseline = *r.BaselineRun
	}
	if e.Outcome, err = decode[Outcome](r.Outcome); err != nil {
		return Evaluation{}, err
	}
	e.Status = statusOf(e)
	return e, nil
}

func (s store) insertRunTx(ctx context.Context, tx postgres.Tx, r Run) (Run, error) {
	id, err := db.New(tx).InsertRun(ctx, db.InsertRunParams{
		OrgID: tx.Org, EvaluationID: r.Evaluation, Request: encode(r.Request), CreatedBy: r.CreatedBy.String(), StartedAt: r.StartedAt,
	})
	if err != nil {
		return Run{}, fmt.Errorf("insert run: %w", err)
	}
	r.ID = id
	return r, nil
}

func (s store) findRun(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Run, error) {
	r, err := db.New(q).FindRun(ctx, db.FindRunParams{OrgID: org, ID: id})
	return postgres.DecodeOne(r, err, "find run", ErrRunNotFound, fromRunRow)
}

// lockRunTx reads a run that does not change until the transaction ends.
func (s store) lockRunTx(ctx context.Context, tx postgres.Tx, id int64) (Run, error) {
	r, err := db.New(tx).LockRun(ctx, db.LockRunParams{OrgID: tx.Org, ID: id})
	return postgres.DecodeOne(r, err, "lock run", ErrRunNotFound, fromRunRow)
}

// baseline is the run before another one that a baseline names.
func (s store) baseline(ctx context.Context, q db.DBTX, org principal.OrgID, e Evaluation, run Run, b requirement.Baseline) (int64, error) {
	none := &requirement.NoBaseline{Baseline: b, Branch: run.branch()}
	if b == requirement.BaselinePinned && e.Baseline == 0 {
		return 0, none
	} else if b == requirement.BaselinePinned {
		return e.Baseline, nil
	}
	kind, name := b.Measured()
	p := db.NewestRunParams{
		OrgID: org, EvaluationID: e.ID, Before: run.ID, Completed: b != requirement.BaselineLatest, Passed: b == requirement.BaselinePassed, Unfailed: kind != "",
		Sample: strconv.Itoa(run.Request.SampleSize), Seed: strconv.FormatInt(scoring.Seed(run.Request.Seed, run.ID), 10),
	}
	switch {
	case kind == requirement.KindRelease:
		p.Release = &name
	case kind == requirement.KindTag:
		p.Tag = &name
	case kind == requirement.KindBranch:
		p.Branch = &name
	case b != requirement.BaselineLatest:
		p.Branch = postgres.OrNull(none.Branch)
	}
	id, err := db.New(q).NewestRun(ctx, p)
	if err != nil {
		return 0, postgres.Missing(err, "find newest run", none)
	}
	return id, nil
}

func (s store) listRuns(ctx context.Context, org principal.OrgID, evaluation int64, f RunFilter) ([]Run, int64, error) {
	q := db.New(s.db.Org(org))
	p := db.ListRunsParams{
		OrgID: org, EvaluationID: evaluation, Statuses: postgres.Texts(f.Statuses), CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
		Below: f.Below, RowLimit: f.Rows(), RowOffset: f.Skip(),
	}
	rows, err := q.ListRuns(ctx, p)
	return postgres.DecodeListed(rows, err, "runs", fromRunRow, f.Count, func() (int64, error) {
		return q.CountRuns(ctx, db.CountRunsParams{
			OrgID: org, EvaluationID: evaluation, Statuses: p.Statuses, CreatedAfter: p.CreatedAfter, CreatedBefore: p.CreatedBefore,
		})
	})
}

func fromRunRow(r db.EvaluationRun) (Run, error) {
	request, err := decode[Request](r.Request)
	if err != nil {
		return Run{}, err
	}
	out := Run{
		ID: r.ID, Evaluation: r.EvaluationID, Status: Status(r.Status), Phase: Phase(r.Phase), Request: *request, CreatedBy: principal.ParseActor(r.CreatedBy),
		StartedAt: r.StartedAt, UpdatedAt: r.UpdatedAt, Completed: r.CompletedAt, HeardAt: r.HeardAt, Final: r.Final,
	}
	if out.Resolved, err = decode[Resolved](r.Resolved); err != nil {
		return Run{}, err
	}
	if out.Outcome, err = decode[Outcome](r.Outcome); err != nil {
		return Run{}, err
	}
	if r.Verdict != nil {
		out.Verdict = requirement.Verdict(*r.Verdict)
	}
	if r.ErrorCode != nil {
		out.Error = &RunError{Code: *r.ErrorCode}
		if r.ErrorMessage != nil {
			out.Error.Message = *r.ErrorMessage
		}
	}
	return out, nil
}

// resolveTx records what a running run works on; ok is false if it has ended.
func (s store) resolveTx(ctx context.Context, tx postgres.Tx, run int64, r Resolved, at time.Time) (ok bool, err error) {
	n, err := db.New(tx).ResolveRun(ctx, db.ResolveRunParams{OrgID: tx.Org, ID: run, Resolved: encode(r), UpdatedAt: at})
	return n > 0, postgres.Wrap(err, "resolve run")
}

func (s store) setPhase(ctx context.Context, org principal.OrgID, run int64, p Phase, at time.Time) error {
	_, err := db.New(s.db.Org(org)).SetPhase(ctx, db.SetPhaseParams{OrgID: org, ID: run, Phase: string(p), UpdatedAt: at})
	return postgres.Wrap(err, "set phase")
}

// beginScoring says that a run has executed, unless it is further already.
func (s store) beginScoring(ctx context.Context, org principal.OrgID, run int64, at time.Time) error {
	return postgres.Wrap(db.New(s.db.Org(org)).BeginScoring(ctx, db.BeginScoringParams{OrgID: org, ID: run, UpdatedAt: at}), "begin scoring")
}

// moveRunTx is the one compare-and-set that ends runs.
func (s store) moveRunTx(ctx context.Context, tx postgres.Tx, run int64, to Status, why *RunError, at time.Time) error {
	p := db.MoveRunParams{OrgID: tx.Org, ID: run, Status: string(to), CompletedAt: &at}
	if why != nil {
		p.ErrorCode, p.ErrorMessage = &why.Code, &why.Message
	}
	n, err := db.New(tx).MoveRun(ctx, p)
	return postgres.Changed(n, err, "end run", ErrTransition)
}

func (s store) setOutcomeTx(ctx context.Context, tx postgres.Tx, run int64, o Outcome, at time.Time) error {
	err := db.New(tx).SetOutcome(ctx, db.SetOutcomeParams{OrgID: tx.Org, ID: run, Outcome: encode(o), UpdatedAt: at})
	return postgres.Wrap(err, "set outcome")
}

func (s store) setVerdictTx(ctx context.Context, tx postgres.Tx, run int64, v requirement.Verdict, at time.Time) error {
	text := string(v)
	n, err := db.New(tx).SetVerdict(ctx, db.SetVerdictParams{OrgID: tx.Org, ID: run, Verdict: &text, UpdatedAt: at})
	return postgres.Changed(n, err, "set verdict", ErrRunNotFound)
}

// beginPosting announces results of a client, and returns until when they have to
// be stored. ok is false if the run takes none.
func (s store) beginPosting(ctx context.Context, org principal.OrgID, run int64, within time.Duration) (until time.Time, ok bool, err error) {
	until, err = db.New(s.db.Org(org)).BeginPosting(ctx, db.BeginPostingParams{OrgID: org, ID: run, Seconds: within.Seconds()})
	return postgres.Optional(until, err, "begin posting")
}

// endPostingTx notes that announced results are stored. ok is false if that took
// too long.
func (s store) endPostingTx(ctx context.Context, tx postgres.Tx, run int64, until time.Time, final bool, at time.Time) (ok bool, err error) {
	n, err := db.New(tx).EndPosting(ctx, db.EndPostingParams{OrgID: tx.Org, ID: run, Until: until, Final: final, At: &at})
	return n > 0, postgres.Wrap(err, "end posting")
}

// posting reports whether announced results of a run are not stored yet.
func (s store) posting(ctx context.Context, org principal.OrgID, run int64) (bool, error) {
	on, err := db.New(s.db.Org(org)).Posting(ctx, db.PostingParams{OrgID: org, ID: run})
	if err != nil && !postgres.NoRows(err) {
		return false, fmt.Errorf("read posting: %w", err)
	}
	return on, nil
}
