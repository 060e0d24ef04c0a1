package policy

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

const (
	tag  = "Policies"
	path = "/api/policies"
)

var routes = resource.Routes{
	One: "policy", Many: "policies", Tag: tag, Path: path, Read: principal.TracesRead, Write: principal.AdminOrg, Strict: true,
}

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tag, "Rules about what agents may do, in Cedar.")
	httpapi.Register(e, routes.List("listPolicies",
		"Returns policies, newest first. An organization begins with one, `baseline`, which can be changed like any other. Filters "+
			"are combined with AND."), s.getPolicies)
	httpapi.Register(e, routes.Create("createPolicy",
		"Parses the source and runs the tests, and then saves the policy. One that is `active` in the mode `enforce` needs a person: "+
			"anyone else gets 403 `not_a_person`. 400 `invalid_policy` gives the position of each problem, "+
			"such as an unknown name; 400 `tests_failed` lists the tests that failed. The source is Cedar; a forbid with "+
			"`@effect(\"require_approval\")` asks for an approval. 409 `policy_set_too_large` if the active policies together would "+
			"exceed their limits."), s.postPolicy)
	httpapi.Register(e, routes.Get("getPolicy", "Returns one policy."), s.getPolicy)
	httpapi.Register(e, routes.Update("updatePolicy",
		"Changes a policy. A new `source`, `mode`, `appliesTo` or `tests` makes a new version, which is parsed and tested like a "+
			"new policy, and decides from then on if the policy is active. A draft can be activated or retired, and an active policy "+
			"can become a draft or be retired; a retired one cannot be changed. What is enforced is changed by people: anyone else gets 403 `not_a_person`."), s.patchPolicy)
	httpapi.Register(e, routes.Delete("deletePolicy",
		"Deletes a policy that was never active, with its versions. One that is or was active is named by decisions, and can only "+
			"be retired: 409 `policy_in_use`."), s.deletePolicy)
	httpapi.Register(e, httpapi.Op{
		ID: "listPolicyVersions", Method: http.MethodGet, Path: path + "/{id}/versions", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary:     "List the versions of a policy",
		Description: "Returns the versions, newest first. A version never changes: decisions name the version that they were made by.",
	}, s.getVersions)
	httpapi.Register(e, httpapi.Op{
		ID: "testPolicy", Method: http.MethodPost, Path: path + "/{id}/test", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, OptionalBody: true,
		Summary:     "Test a policy",
		Description: "Runs tests against the policy alone, and saves nothing. `source` and `tests` default to the policy's own: without a body, the policy runs its own tests.",
	}, s.postTest)
	s.registerNouns(e)
}

// Path is the path of a policy.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the policy."`
}

// number is the number behind the path; any other text is the id of no policy.
func (p Path) number() (int64, error) {
	return httpapi.Number(p.ID, ErrNotFound)
}

// shownBytes is how long a policy is at most: its source, its tests, and what it applies to.
const shownBytes = 100 << 10

// noun shows policies with what was remarked just now about their source.
func (s *Service) noun(remarks ...engine.Remark) resource.Noun[Policy, policyBody] {
	return resource.Noun[Policy, policyBody]{
		Routes: routes, Log: s.log, Missing: ErrNotFound, Cursor: "policies",
		ID: func(p Policy) int64 { return p.ID },
		Show: resource.By(s.tenancy, func(p Policy) principal.Actor { return p.CreatedBy }, func(p Policy, by httpapi.Actor) policyBody {
			b := toPolicyBody(p, by)
			b.Warnings = toWarnings(remarks)
			return b
		}),
	}
}

func (s *Service) getPolicies(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	shown, paging, err := s.noun().Page(ctx, in.CursorPage, func(p postgres.Page) (found []Policy, total int64, err error) {
		err = admission.From(ctx).Read(ctx, in.Limit*shownBytes, func() (size int, err error) {
			found, total, err = s.List(ctx, principal.From(ctx).Org, List{States: in.State, Modes: in.Mode, Key: in.PolicyKey, Page: p})
			for _, one := range found {
				size += one.size()
			}
			return size, err
		})
		return found, total, err
	})
	return httpapi.NewBody(listBody{shown, paging}), err
}

// size is about how long a spec is.
func (s Spec) size() int {
	n := Policy{Spec: s}.source().Size() + 500
	for _, t := range s.Tests {
		n += len(t.Input) + len(t.Name)
	}
	return n
}

func (s *Service) postPolicy(ctx context.Context, in *httpapi.Body[createBody]) (*httpapi.Made[policyBody], error) {
	p := in.Body.policy()
	remarks, err := s.check(ctx, p.Spec, true)
	if err != nil {
		return nil, err
	}
	return s.noun(remarks...).Create(ctx, func(tx postgres.Tx) (Policy, error) { return s.CreateTx(ctx, tx, p) })
}

func (s *Service) getPolicy(ctx context.Context, in *Path) (*httpapi.Output[policyBody], error) {
	return s.noun().Get(ctx, in.ID, s.Find)
}

func (s *Service) patchPolicy(ctx context.Context, in *updateInput) (*httpapi.Output[policyBody], error) {
	id, expected, err := s.noun().Target(in.ID, in.IfMatch, in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	now, err := s.Find(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	before := now.Spec
	in.Body.apply(&now)
	var remarks []engine.Remark
	if !before.equal(now.Spec) {
		if remarks, err = s.check(ctx, now.Spec, before.Source != now.Source); err != nil {
			return nil, err
		}
	}
	return s.noun(remarks...).Change(ctx, func(tx postgres.Tx) (Policy, error) {
		return s.UpdateTx(ctx, tx, expected, id, now.Spec, in.Body.apply)
	})
}

func (s *Service) deletePolicy(ctx context.Context, in *Path) (*httpapi.DeletedOutput[string], error) {
	return s.noun().Delete(ctx, in.ID, s.DeleteTx)
}

func (s *Service) getVersions(ctx context.Context, in *listVersionsInput) (*httpapi.Body[listVersionsBody], error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	versions := resource.List[Version, versionBody]{
		Cursor: "policy versions",
		ID:     func(v Version) int64 { return v.Number },
		Show:   resource.By(s.tenancy, func(v Version) principal.Actor { return v.CreatedBy }, toVersionBody),
	}
	shown, paging, err := versions.Page(ctx, in.CursorPage, func(p postgres.Page) (found []Version, total int64, err error) {
		err = admission.From(ctx).Read(ctx, in.Limit*shownBytes, func() (size int, err error) {
			found, total, err = s.Versions(ctx, principal.From(ctx).Org, id, p)
			for _, one := range found {
				size += one.size()
			}
			return size, err
		})
		return found, total, err
	})
	return httpapi.NewBody(listVersionsBody{shown, paging}), err
}

func toVersionBody(v Version, by httpapi.Actor) versionBody {
	return versionBody{
		ID: httpapi.ID(v.Number), PolicyVersion: v.Number, SpecFields: toSpecFields(v.Spec),
		CreatedBy: by, CreatedAt: httpapi.Time(v.CreatedAt),
	}
}

func (s *Service) postTest(ctx context.Context, in *testInputs) (*httpapi.Body[testReport], error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	p, err := s.Find(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	in.Body.Source.Apply(&p.Source)
	if in.Body.Tests.Sent {
		p.Tests = toTests(in.Body.Tests.Value)
	}
	failed, remarks, err := s.try(ctx, p.Spec, in.Body.Source.Sent)
	if err != nil {
		return nil, err
	}
	out := httpapi.NewBody(testReport{Passed: len(failed) == 0, Results: make([]testResult, len(p.Tests)), Warnings: toWarnings(remarks)})
	for i, t := range p.Tests {
		out.Body.Results[i] = testResult{Name: t.Name, Passed: true}
	}
	for _, f := range failed {
		out.Body.Results[f.index].Passed, out.Body.Results[f.index].Message = false, &f.message
	}
	return out, nil
}

// Shown is the policy as getPolicy shows it.
func (p Policy) Shown() any { return toPolicyBody(p, httpapi.ToActor(p.CreatedBy, "")) }

// Revision counts changes of the policy.
func (p Policy) Revision() int64 { return p.Changes }
