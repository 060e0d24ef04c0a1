package probe

import (
	"context"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/probe/attack"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

const tag = "Judges"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "probeJudgeConfig", Method: http.MethodPost, Path: "/api/llm-judge/configs/{id}/probe", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		Summary: "Probe a judge for bias",
		Description: "Starts a probe of the judge's current version: each answer is judged as it is and changed in a way that should not matter, and the two scores are compared. " +
			"The answers are those of a dataset's items, or the newest results of the judge. The probe runs in the background and is paid like any other use of the judge; read it by its id. " +
			"An organization has at most 10 running probes: 409 `probe_limit`.",
	}, s.post)
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeProbes", Method: http.MethodGet, Path: "/api/llm-judge/configs/{id}/probes", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List probes of a judge",
		Description: "Returns the probes of all versions of the judge, newest first.",
	}, s.getList)
	httpapi.Register(e, httpapi.Op{
		ID: "getJudgeProbe", Method: http.MethodGet, Path: "/api/llm-judge/probes/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a probe of a judge",
		Description: "Returns the probe with its progress and, once it has ended, its findings.",
	}, s.get)
	httpapi.Register(e, httpapi.Op{
		ID: "cancelJudgeProbe", Method: http.MethodPost, Path: "/api/llm-judge/probes/{id}/cancel", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true,
		Summary:     "Cancel a probe of a judge",
		Description: "Ends a running probe. The verdicts so far are reported; those under way are waited for, and added when they are there.",
	}, s.postCancel)
}

// Path is the path of a probe.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the probe."`
}

func (p Path) probe() (int64, error) {
	return httpapi.Number(p.ID, ErrNotFound)
}

type postInput struct {
	judge.Path
	Body requestBody
}

type requestBody struct {
	Kinds          []Kind          `json:"kinds" minItems:"1" maxItems:"5" uniqueItems:"true" doc:"What is varied. position is for judges that compare two answers."`
	DatasetID      httpapi.IDInput `json:"datasetId,omitempty" doc:"Dataset whose items' outputs are judged. Absent: the newest results of the judge that keep their input and output."`
	DatasetVersion int             `json:"datasetVersion,omitempty" minimum:"1" maximum:"2147483647" doc:"Version of the dataset; its items as they are now if it is not sent."`
	SampleSize     int             `json:"sampleSize,omitempty" minimum:"2" maximum:"500" default:"50" doc:"Number of answers to judge, at most."`
	Attacks        int             `json:"attacks,omitempty" minimum:"1" maximum:"1000" default:"60" doc:"Number of attacks of the corpus to try, at most, for the kind injection; each is added to one of the answers that do not pass."`
	Margin         float64         `json:"margin,omitempty" exclusiveMinimum:"0" maximum:"0.5" default:"0.05" doc:"The largest difference of scores, which are between 0 and 1, that does not matter; for the kind injection also the largest share of attacks that may succeed."`
}

type createdOutput struct {
	Location string `header:"Location" doc:"Path of the probe."`
	Body     probeBody
}

type listInput struct {
	judge.Path
	httpapi.CursorPage
}

type listBody struct {
	Probes []probeBody `json:"probes" doc:"The probes of this page, newest first."`
	httpapi.CursorPaging
}

var probes = resource.List[Probe, probeBody]{
	Cursor: "judge probes",
	ID:     func(p Probe) int64 { return p.ID },
	Show:   resource.Each(toProbeBody),
}

// request is what a body asks for.
func (b requestBody) request() Request {
	r := Request{Kinds: b.Kinds, Dataset: int64(b.DatasetID), Version: b.DatasetVersion, Sample: b.SampleSize, Margin: b.Margin}
	for _, k := range b.Kinds {
		if k == KindInjection {
			r.Attacks = min(b.Attacks, len(attack.All()))
		}
	}
	return r
}

func (s *Service) post(ctx context.Context, in *postInput) (*createdOutput, error) {
	id, err := in.Path.Number()
	if err != nil {
		return nil, err
	}
	for i, k := range in.Body.Kinds {
		for _, other := range in.Body.Kinds[:i] {
			if k == other {
				return nil, fault.Invalid("body", "/kinds/"+strconv.Itoa(i), "format", "repeats "+string(k))
			}
		}
	}
	org := principal.From(ctx).Org
	c, r, err := s.Check(ctx, org, id, in.Body.request())
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*createdOutput, error) {
		p, err := s.CreateTx(ctx, tx, c, r)
		if err != nil {
			return nil, err
		}
		return &createdOutput{Location: "/api/llm-judge/probes/" + strconv.FormatInt(p.ID, 10), Body: toProbeBody(p)}, nil
	})
}

func (s *Service) getList(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	id, err := in.Path.Number()
	if err != nil {
		return nil, err
	}
	shown, paging, err := probes.Page(ctx, in.CursorPage, func(p postgres.Page) ([]Probe, int64, error) {
		return s.List(ctx, principal.From(ctx).Org, id, p)
	})
	return httpapi.NewBody(listBody{shown, paging}), err
}

func (s *Service) get(ctx context.Context, in *Path) (*httpapi.Body[probeBody], error) {
	id, err := in.probe()
	if err != nil {
		return nil, err
	}
	p, err := s.Find(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toProbeBody(p)), nil
}

func (s *Service) postCancel(ctx context.Context, in *Path) (*httpapi.Body[probeBody], error) {
	id, err := in.probe()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Body[probeBody], error) {
		p, err := s.CancelTx(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		return httpapi.NewBody(toProbeBody(p)), nil
	})
}
