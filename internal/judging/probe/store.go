package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/probe/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type store struct{ db *postgres.DB }

func (s store) insertTx(ctx context.Context, tx postgres.Tx, p Probe) (int64, error) {
	request, err := json.Marshal(p.Request)
	if err != nil {
		return 0, fmt.Errorf("encode the request of a probe: %w", err)
	}
	id, err := db.New(tx).InsertProbe(ctx, db.InsertProbeParams{
		OrgID: tx.Org, ConfigID: p.Config, ConfigVersion: int32(p.Version), Request: request, CreatedBy: p.CreatedBy.String(), CreatedAt: p.CreatedAt,
	})
	return id, postgres.Wrap(err, "insert probe")
}

func (s store) find(ctx context.Context, org principal.OrgID, id int64) (Probe, error) {
	r, err := db.New(s.db.Org(org)).FindProbe(ctx, db.FindProbeParams{OrgID: org, ID: id})
	if err != nil {
		return Probe{}, postgres.Missing(err, "find probe", ErrNotFound)
	}
	return fromRow(r.JudgeProbe, r.Done)
}

func (s store) lockTx(ctx context.Context, tx postgres.Tx, id int64) (Probe, error) {
	r, err := db.New(tx).LockProbe(ctx, db.LockProbeParams{OrgID: tx.Org, ID: id})
	if err != nil {
		return Probe{}, postgres.Missing(err, "lock probe", ErrNotFound)
	}
	return fromRow(r.JudgeProbe, r.Done)
}

func (s store) list(ctx context.Context, org principal.OrgID, config int64, p postgres.Page) ([]Probe, int64, error) {
	q := db.New(s.db.Org(org))
	rows, err := q.ListProbes(ctx, db.ListProbesParams{OrgID: org, ConfigID: config, Below: p.Below, RowLimit: p.Rows(), RowOffset: p.Skip()})
	return postgres.DecodeListed(rows, err, "probes", func(r db.ListProbesRow) (Probe, error) {
		return fromRow(r.JudgeProbe, r.Done)
	}, p.Count, func() (int64, error) { return q.CountProbes(ctx, db.CountProbesParams{OrgID: org, ConfigID: config}) })
}

func (s store) running(ctx context.Context, org principal.OrgID, limit int) ([]int64, error) {
	ids, err := db.New(s.db.Org(org)).RunningProbes(ctx, db.RunningProbesParams{OrgID: org, RowLimit: int32(limit)})
	return ids, postgres.Wrap(err, "find running probes")
}

// isRunning reports whether a probe is still under way.
func (s store) isRunning(ctx context.Context, t Ticket) (bool, error) {
	running, err := db.New(s.db.Org(t.Org)).IsRunning(ctx, db.IsRunningParams{OrgID: t.Org, ID: t.Probe})
	return running, postgres.Wrap(err, "look whether a probe is running")
}

// runningTx is how many probes of the organization are under way. Until the transaction
// ends, no other one counts.
func (s store) runningTx(ctx context.Context, tx postgres.Tx) (int64, error) {
	q := db.New(tx)
	if err := q.LockCount(ctx, tx.Org.String()); err != nil {
		return 0, fmt.Errorf("lock the count of running probes: %w", err)
	}
	n, err := q.CountRunning(ctx, tx.Org)
	return n, postgres.Wrap(err, "count running probes")
}

// reportTx replaces the report of a probe.
func (s store) reportTx(ctx context.Context, tx postgres.Tx, p Probe) error {
	report, err := json.Marshal(p.Report)
	if err != nil {
		return fmt.Errorf("encode the report of a probe: %w", err)
	}
	err = db.New(tx).ReplaceReport(ctx, db.ReplaceReportParams{OrgID: tx.Org, ID: p.ID, Report: report})
	return postgres.Wrap(err, "replace the report of a probe")
}

// begin fixes what a probe judges, unless that is fixed or the probe has ended.
func (s store) begin(ctx context.Context, org principal.OrgID, p Probe) error {
	subjects, err := json.Marshal(p.Subjects)
	if err != nil {
		return fmt.Errorf("encode the subjects of a probe: %w", err)
	}
	if _, err := db.New(s.db.Org(org)).BeginProbe(ctx, db.BeginProbeParams{OrgID: org, ID: p.ID, Subjects: subjects, Units: int32(p.Units)}); err != nil {
		return fmt.Errorf("begin probe: %w", err)
	}
	return nil
}

// endTx writes how a probe ended, if it is still running.
func (s store) endTx(ctx context.Context, tx postgres.Tx, p Probe) error {
	report, err := json.Marshal(p.Report)
	if err != nil {
		return fmt.Errorf("encode the report of a probe: %w", err)
	}
	row := db.EndProbeParams{OrgID: tx.Org, ID: p.ID, Status: string(p.Status), Report: report, EndedAt: p.EndedAt}
	if p.Error != nil {
		row.ErrorCode, row.ErrorMessage = &p.Error.Code, &p.Error.Message
	}
	n, err := db.New(tx).EndProbe(ctx, row)
	return postgres.Changed(n, err, "end probe", ErrTransition)
}

func (s store) keep(ctx context.Context, org principal.OrgID, probe int64, unit int, v Verdict, at time.Time) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a verdict of a probe: %w", err)
	}
	err = db.New(s.db.Org(org)).InsertVerdict(ctx, db.InsertVerdictParams{OrgID: org, ProbeID: probe, Unit: int32(unit), Verdict: text, CreatedAt: at})
	return postgres.Wrap(err, "keep a verdict of a probe")
}

func (s store) verdicts(ctx context.Context, q db.DBTX, org principal.OrgID, probe int64) (map[int]Verdict, error) {
	rows, err := db.New(q).ListVerdicts(ctx, db.ListVerdictsParams{OrgID: org, ProbeID: probe})
	if err != nil {
		return nil, fmt.Errorf("list the verdicts of a probe: %w", err)
	}
	out := make(map[int]Verdict, len(rows))
	for _, r := range rows {
		var v Verdict
		if err := json.Unmarshal(r.Verdict, &v); err != nil {
			return nil, fmt.Errorf("read verdict %d of probe %d: %w", r.Unit, probe, err)
		}
		out[int(r.Unit)] = v
	}
	return out, nil
}

func fromRow(r db.JudgeProbe, done int64) (Probe, error) {
	p := Probe{
		ID: r.ID, Config: r.ConfigID, Version: int(r.ConfigVersion), Status: Status(r.Status), Units: int(r.Units), Done: int(done),
		CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt, EndedAt: r.EndedAt,
	}
	if err := json.Unmarshal(r.Request, &p.Request); err != nil {
		return Probe{}, fmt.Errorf("read the request of probe %d: %w", r.ID, err)
	}
	if r.Subjects != nil {
		if err := json.Unmarshal(r.Subjects, &p.Subjects); err != nil {
			return Probe{}, fmt.Errorf("read the subjects of probe %d: %w", r.ID, err)
		}
	}
	if r.ErrorCode != nil && r.ErrorMessage != nil {
		p.Error = &Error{*r.ErrorCode, *r.ErrorMessage}
	}
	if r.Report != nil {
		p.Report = &Report{}
		if err := json.Unmarshal(r.Report, p.Report); err != nil {
			return Probe{}, fmt.Errorf("read the report of probe %d: %w", r.ID, err)
		}
	}
	return p, nil
}
