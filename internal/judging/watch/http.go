package watch

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

const tag = "Judges"

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"CreateJudgeWatch": createBody{}, "JudgeWatch": watchBody{}, "JudgeWatchList": listBody{}, "JudgeWatchCheck": checkBody{}, "JudgeWatchCheckList": listChecksBody{},
	"JudgeWatchFlip": flipBody{}, "JudgeDrift": correction.Drift{}, "JudgeCorrectnessChange": correction.Change{},
}

// Schema lists the statuses.
func (Status) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(StatusPreparing, StatusWatching, StatusDrifted, StatusStopped)
}

// Schema lists the verdicts.
func (Verdict) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(VerdictQuiet, VerdictUnresolved, VerdictDrifted, VerdictFailed)
}

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "createJudgeWatch", Method: http.MethodPost, Path: "/api/llm-judge/configs/{id}/watches", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		Summary: "Watch a judge for drift",
		Description: "Asks the current version of the judge about the frozen outputs of a dataset version, five times at first and once in every check. A judge whose verdicts change " +
			"has drifted: gates that use this version are inconclusive until the judge gets a new version. A new watch takes the place of the open one.",
	}, s.post)
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeWatches", Method: http.MethodGet, Path: "/api/llm-judge/configs/{id}/watches", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the watches of a judge",
		Description: "Returns open and ended watches, newest first.",
	}, s.getList)
	httpapi.Register(e, httpapi.Op{
		ID: "getJudgeWatch", Method: http.MethodGet, Path: "/api/llm-judge/watches/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a watch",
		Description: "Returns the watch with its status.",
	}, s.get)
	httpapi.Register(e, httpapi.Op{
		ID: "checkJudgeWatch", Method: http.MethodPost, Path: "/api/llm-judge/watches/{id}/check", Tag: tag, Scope: principal.EvalWrite, Status: 202,
		Summary:     "Check a watched judge now",
		Description: "Has the watch check its judge now instead of at `next_check_at`. The check is among the checks of the watch when it has ended; one that is under way is finished first.",
	}, s.postCheck)
	httpapi.Register(e, httpapi.Op{
		ID: "stopJudgeWatch", Method: http.MethodPost, Path: "/api/llm-judge/watches/{id}/stop", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Stop a watch",
		Description: "Ends the watch. What it found stays.",
	}, s.postStop)
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeWatchChecks", Method: http.MethodGet, Path: "/api/llm-judge/watches/{id}/checks", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the checks of a watch",
		Description: "Returns what each check found, newest first.",
	}, s.getChecks)
}

// Path is the path of a watch.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the watch."`
}

func (p Path) watch() (int64, error) {
	return httpapi.Number(p.ID, ErrNotFound)
}

type createInput struct {
	judge.Path
	Body createBody
}

type createBody struct {
	DatasetID      httpapi.IDInput `json:"datasetId" doc:"Dataset whose items are the anchors: up to 500 items with an output, 200 or more to notice a shift of two points. Labels of people are used if there are any."`
	DatasetVersion int             `json:"datasetVersion,omitempty" minimum:"1" doc:"Frozen version of the dataset; its items as they are now if it is not sent."`
	EveryHours     float64         `json:"everyHours,omitempty" minimum:"1" maximum:"2160" default:"24" doc:"Hours between checks."`
	Tolerance      float64         `json:"tolerance,omitempty" minimum:"0.001" maximum:"0.5" default:"0.02" doc:"Shift of the pass rate that does not matter."`
	NewVersion     bool            `json:"newVersion,omitempty" doc:"Gives the judge a new version with the same specification first: accepts the judge as it is now, after a drift. Verdicts of the former version do not count for the new one; labels, which are about answers, do."`
}

type watchOutput struct {
	ETag string `header:"ETag" doc:"The watch's version."`
	Body watchBody
}

type createdOutput struct {
	ETag     string `header:"ETag" doc:"The watch's version."`
	Location string `header:"Location" doc:"Path of the watch."`
	Body     watchBody
}

// watchBody is a watch on the wire.
type watchBody struct {
	ID             httpapi.ID    `json:"id" doc:"Id of the watch."`
	ConfigID       httpapi.ID    `json:"config_id" doc:"The judge."`
	ConfigVersion  int           `json:"config_version" doc:"Version of the judge that is watched."`
	DatasetID      httpapi.ID    `json:"dataset_id" doc:"Dataset of the anchors."`
	DatasetVersion int           `json:"dataset_version" doc:"Its frozen version."`
	EveryHours     float64       `json:"every_hours" doc:"Hours between checks."`
	Tolerance      float64       `json:"tolerance" doc:"Shift of the pass rate that does not matter."`
	Status         Status        `json:"status" doc:"preparing until it is known how often the judge contradicts itself, then watching; drifted or stopped at the end."`
	Problem        *string       `json:"problem" volatile:"true" doc:"Why the last step came to nothing, or how the watch ended; null if all is well."`
	Anchors        int           `json:"anchors" doc:"Frozen answers that the judge is asked about."`
	FlipLimit      *float64      `json:"flip_limit" doc:"Upper limit of how often the judge contradicts itself without any change; null while preparing."`
	Evidence       float64       `json:"evidence" volatile:"true" doc:"Evidence so far, as an e-value, that the judge contradicts its former self more often than that."`
	EvidenceLimit  float64       `json:"evidence_limit" doc:"Evidence that counts as drift. A judge that does not change reaches it once in 180 days on average, or less often."`
	Checks         int           `json:"checks" volatile:"true" doc:"Checks so far."`
	NextCheckAt    httpapi.Time  `json:"next_check_at" volatile:"true" doc:"When the next check is due."`
	CreatedBy      httpapi.Actor `json:"created_by" volatile:"true" doc:"Who started the watch."`
	CreatedAt      httpapi.Time  `json:"created_at" doc:"When the watch was started."`
	UpdatedAt      httpapi.Time  `json:"updated_at" volatile:"true" doc:"When the watch last changed."`
	Version        int64         `json:"version" volatile:"true" doc:"Counts changes of the watch."`
}

type listInput struct {
	judge.Path
	httpapi.CursorPage
}

type listBody struct {
	Watches []watchBody `json:"watches" doc:"The watches of this page, newest first."`
	httpapi.CursorPaging
}

type listChecksInput struct {
	Path
	httpapi.CursorPage
}

type listChecksBody struct {
	Checks []checkBody `json:"checks" doc:"The checks of this page, newest first."`
	httpapi.CursorPaging
}

// checkBody is a check on the wire.
type checkBody struct {
	ID            httpapi.ID                      `json:"id" doc:"Id of the check."`
	Number        int                             `json:"number" doc:"Number of the check within its watch."`
	Verdict       Verdict                         `json:"verdict" doc:"quiet: the pass rate on the anchors moved by less than the tolerance; drifted: the judge changed; unresolved: the anchors do not show either; failed: the judge could not be asked."`
	Problem       *string                         `json:"problem" doc:"Why the check failed; null if it did not."`
	Anchors       int                             `json:"anchors" doc:"Anchors with a verdict now and before."`
	Unusable      int                             `json:"unusable" doc:"Anchors on which the judge gave no verdict now."`
	PassToFail    int                             `json:"pass_to_fail" doc:"Anchors that passed before and fail now."`
	FailToPass    int                             `json:"fail_to_pass" doc:"Anchors that failed before and pass now."`
	Drift         httpapi.Null[correction.Drift]  `json:"drift" doc:"The comparison with n, interval and method; null if the check failed."`
	Correctness   httpapi.Null[correction.Change] `json:"correctness" doc:"Change of the share of verdicts that agree with people, on anchors with a label; null without labels."`
	Evidence      float64                         `json:"evidence" doc:"Evidence after this check, as an e-value, that the judge contradicts its former self."`
	EvidenceLimit float64                         `json:"evidence_limit" doc:"Evidence that counts as drift."`
	Flips         []flipBody                      `json:"flips" doc:"Anchors with another verdict, up to 50."`
	CostUSD       float64                         `json:"cost_usd" doc:"What the check cost, in US dollars."`
	CreatedAt     httpapi.Time                    `json:"created_at" doc:"When the check ended."`
}

type flipBody struct {
	DatasetItemID httpapi.ID `json:"dataset_item_id" doc:"The anchor."`
	PassedBefore  bool       `json:"passed_before" doc:"Whether it passed before."`
	PassedNow     bool       `json:"passed_now" doc:"Whether it passes now."`
}

func (s *Service) watches() resource.List[Watch, watchBody] {
	return resource.List[Watch, watchBody]{
		Cursor: "judge watches",
		ID:     func(w Watch) int64 { return w.ID },
		Show:   resource.By(s.tenancy, func(w Watch) principal.Actor { return w.CreatedBy }, toBody),
	}
}

var checks = resource.List[Check, checkBody]{
	Cursor: "judge watch checks",
	ID:     func(c Check) int64 { return c.ID },
	Show:   resource.Each(toCheckBody),
}

func (s *Service) post(ctx context.Context, in *createInput) (*createdOutput, error) {
	id, err := in.Number()
	if err != nil {
		return nil, err
	}
	b := in.Body
	a := Asked{
		Judge: id, Dataset: int64(b.DatasetID), DatasetVersion: b.DatasetVersion, Every: time.Duration(b.EveryHours * float64(time.Hour)).Round(time.Second),
		Tolerance: b.Tolerance, NewVersion: b.NewVersion,
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*createdOutput, error) {
		w, err := s.StartTx(ctx, tx, a)
		if err != nil {
			return nil, err
		}
		out, err := s.output(ctx, &tx, w)
		if err != nil {
			return nil, err
		}
		return &createdOutput{ETag: out.ETag, Location: "/api/llm-judge/watches/" + strconv.FormatInt(w.ID, 10), Body: out.Body}, nil
	})
}

func (s *Service) get(ctx context.Context, in *Path) (*watchOutput, error) {
	id, err := in.watch()
	if err != nil {
		return nil, err
	}
	w, err := s.Find(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	return s.output(ctx, nil, w)
}

func (s *Service) output(ctx context.Context, tx *postgres.Tx, w Watch) (*watchOutput, error) {
	shown, err := s.watches().Show(ctx, tx, []Watch{w})
	if err != nil {
		return nil, err
	}
	return &watchOutput{ETag: httpapi.ETag(w.Changes), Body: shown[0]}, nil
}

func (s *Service) postCheck(ctx context.Context, in *Path) (*watchOutput, error) {
	return s.do(ctx, in, s.CheckTx)
}

func (s *Service) postStop(ctx context.Context, in *Path) (*watchOutput, error) {
	return s.do(ctx, in, s.StopTx)
}

func (s *Service) do(ctx context.Context, in *Path, what func(context.Context, postgres.Tx, int64) (Watch, error)) (*watchOutput, error) {
	id, err := in.watch()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*watchOutput, error) {
		w, err := what(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		return s.output(ctx, &tx, w)
	})
}

func (s *Service) getList(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	id, err := in.Number()
	if err != nil {
		return nil, err
	}
	shown, paging, err := s.watches().Page(ctx, in.CursorPage, func(p postgres.Page) ([]Watch, int64, error) {
		return s.List(ctx, principal.From(ctx).Org, id, p)
	})
	return httpapi.NewBody(listBody{shown, paging}), err
}

func (s *Service) getChecks(ctx context.Context, in *listChecksInput) (*httpapi.Body[listChecksBody], error) {
	id, err := in.watch()
	if err != nil {
		return nil, err
	}
	shown, paging, err := checks.Page(ctx, in.CursorPage, func(p postgres.Page) ([]Check, int64, error) {
		return s.Checks(ctx, principal.From(ctx).Org, id, p)
	})
	return httpapi.NewBody(listChecksBody{shown, paging}), err
}

// Shown is the watch as getJudgeWatch shows it.
func (w Watch) Shown() any { return toBody(w, httpapi.ToActor(w.CreatedBy, "")) }

func toBody(w Watch, by httpapi.Actor) watchBody {
	return watchBody{
		ID: httpapi.ID(w.ID), ConfigID: httpapi.ID(w.Judge), ConfigVersion: w.Version, DatasetID: httpapi.ID(w.Dataset), DatasetVersion: w.DatasetVersion,
		EveryHours: w.Every.Hours(), Tolerance: w.Tolerance, Status: w.Status, Problem: httpapi.OrNull(w.Problem), Anchors: w.Anchors, FlipLimit: httpapi.OrNull(w.FlipLimit),
		Evidence: w.Evidence, EvidenceLimit: w.limit(), Checks: w.Checks, NextCheckAt: httpapi.Time(w.NextAt), CreatedBy: by,
		CreatedAt: httpapi.Time(w.CreatedAt), UpdatedAt: httpapi.Time(w.UpdatedAt), Version: w.Changes,
	}
}

func toCheckBody(c Check) checkBody {
	f := c.Found
	b := checkBody{
		ID: httpapi.ID(c.ID), Number: c.Number, Verdict: c.Verdict, Problem: httpapi.OrNull(f.Problem), Anchors: f.Anchors, Unusable: f.Unusable, PassToFail: f.PassToFail, FailToPass: f.FailToPass,
		Drift: httpapi.NullOf(f.Drift), Correctness: httpapi.NullOf(f.Correct), Evidence: f.Evidence, EvidenceLimit: f.Limit, Flips: make([]flipBody, len(f.Flips)),
		CostUSD: float64(f.CostNano) / 1e9, CreatedAt: httpapi.Time(c.At),
	}
	for i, one := range f.Flips {
		b.Flips[i] = flipBody{httpapi.ID(one.Item), one.Before, one.After}
	}
	return b
}
