package policy

import (
	"context"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
)

const (
	tag  = "Policies"
	path = "/api/policies"
)

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tag, "Rules about what agents may do, in Cedar.")
	httpapi.Register(e, httpapi.Op{
		ID: "listPolicies", Method: http.MethodGet, Path: path, Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary:     "List policies",
		Description: "Returns policies, newest first. An organization begins with one, `baseline`, which can be changed like any other. Filters are combined with AND.",
	}, s.getPolicies)
	httpapi.Register(e, httpapi.Op{
		ID: "createPolicy", Method: http.MethodPost, Path: path, Tag: tag, Scope: principal.AdminOrg, Status: 201, Strict: true,
		Summary: "Create a policy",
		Description: "Parses the source and runs the tests, and then saves the policy. 400 `invalid_policy` gives the position of each problem, such as an unknown name; 400 `tests_failed` lists the tests that failed. " +
			"The source is Cedar; a forbid with `@effect(\"require_approval\")` asks for an approval. 409 `policy_set_too_large` if the active policies together would exceed their limits.",
	}, s.postPolicy)
	httpapi.Register(e, httpapi.Op{
		ID: "getPolicy", Method: http.MethodGet, Path: path + "/{id}", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary:     "Get a policy",
		Description: "Returns one policy.",
	}, s.getPolicy)
	httpapi.Register(e, httpapi.Op{
		ID: "updatePolicy", Method: http.MethodPatch, Path: path + "/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, OptionalBody: true,
		Summary: "Update a policy",
		Description: "Changes a policy. A new `source`, `mode`, `appliesTo` or `tests` makes a new version, which is parsed and tested like a new policy, and decides from then on if the policy is active. " +
			"A draft can be activated or retired, and an active policy can become a draft or be retired; a retired one cannot be changed.",
	}, s.patchPolicy)
	httpapi.Register(e, httpapi.Op{
		ID: "deletePolicy", Method: http.MethodDelete, Path: path + "/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Delete a policy",
		Description: "Deletes a policy that was never active, with its versions. One that is or was active is named by decisions, and can only be retired: 409 `policy_in_use`.",
	}, s.deletePolicy)
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
	s.registerVocabulary(e)
	s.registerBacktest(e)
	s.registerEvaluations(e)
}

// Path is the path of a policy.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the policy."`
}

// number is the number behind the path; any other text is the id of no policy.
func (p Path) number() (int64, error) {
	id, ok := httpapi.ParseID(p.ID)
	if !ok {
		return 0, ErrNotFound
	}
	return id, nil
}

const (
	policyCursor  = httpapi.IDCursor("policies")
	versionCursor = httpapi.IDCursor("policy versions")

	// shownBytes is how long a policy is at most: its source, its tests, and what it applies to.
	shownBytes = 100 << 10
)

func (s *Service) getPolicies(ctx context.Context, in *listInput) (*listOutput, error) {
	below, err := policyCursor.Below(in.Cursor)
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	var policies []Policy
	var total int64
	err = admission.From(ctx).Read(ctx, in.Limit*shownBytes, func() (int, error) {
		var err error
		policies, total, err = s.List(ctx, org, List{States: in.State, Modes: in.Mode, Key: in.PolicyKey, Below: below, Limit: in.Limit, Offset: in.Offset, Count: in.IncludeTotal})
		size := 0
		for _, p := range policies {
			size += p.size()
		}
		return size, err
	})
	if err != nil {
		return nil, err
	}
	out := &listOutput{}
	policies, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, policies, total, func(p Policy) string { return policyCursor.Text(p.ID) })
	creators := make([]principal.Actor, len(policies))
	for i, p := range policies {
		creators[i] = p.CreatedBy
	}
	by, err := s.tenancy.Actors(ctx, org, creators...)
	if err != nil {
		return nil, err
	}
	out.Body.Policies = make([]policyBody, len(policies))
	for i, p := range policies {
		out.Body.Policies[i] = toPolicyBody(p, by[i])
	}
	return out, nil
}

// size is about how long a spec is.
func (s Spec) size() int {
	n := Policy{Spec: s}.source().Size() + 500
	for _, t := range s.Tests {
		n += len(t.Input) + len(t.Name)
	}
	return n
}

func (s *Service) postPolicy(ctx context.Context, in *createInput) (*createdOutput, error) {
	p := in.Body.policy()
	remarks, err := s.check(ctx, p.Spec, true)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*createdOutput, error) {
		p, err := s.CreateTx(ctx, tx, p)
		if err != nil {
			return nil, err
		}
		shown, err := s.showTx(ctx, tx, p)
		shown.Warnings = toWarnings(remarks)
		return &createdOutput{ETag: httpapi.ETag(p.Changes), Location: path + "/" + strconv.FormatInt(p.ID, 10), Body: shown}, err
	})
}

func (s *Service) getPolicy(ctx context.Context, in *Path) (*policyOutput, error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	p, err := s.Find(ctx, org, id)
	if err != nil {
		return nil, err
	}
	by, err := s.tenancy.Actors(ctx, org, p.CreatedBy)
	if err != nil {
		return nil, err
	}
	return &policyOutput{ETag: httpapi.ETag(p.Changes), Body: toPolicyBody(p, by[0])}, nil
}

func (s *Service) patchPolicy(ctx context.Context, in *updateInput) (*policyOutput, error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
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
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*policyOutput, error) {
		p, err := s.UpdateTx(ctx, tx, expected, id, now.Spec, in.Body.apply)
		if err != nil {
			return nil, err
		}
		shown, err := s.showTx(ctx, tx, p)
		shown.Warnings = toWarnings(remarks)
		return &policyOutput{ETag: httpapi.ETag(p.Changes), Body: shown}, err
	})
}

func (s *Service) deletePolicy(ctx context.Context, in *Path) (*httpapi.DeletedOutput[string], error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		if err := s.DeleteTx(ctx, tx, id); err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(httpapi.ID(id).String()), nil
	})
}

func (s *Service) getVersions(ctx context.Context, in *listVersionsInput) (*listVersionsOutput, error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	below, err := versionCursor.Below(in.Cursor)
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	var versions []Version
	var total int64
	err = admission.From(ctx).Read(ctx, in.Limit*shownBytes, func() (int, error) {
		var err error
		versions, total, err = s.Versions(ctx, org, id, below, in.Limit, in.Offset)
		size := 0
		for _, v := range versions {
			size += v.size()
		}
		return size, err
	})
	if err != nil {
		return nil, err
	}
	out := &listVersionsOutput{}
	versions, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, versions, total, func(v Version) string { return versionCursor.Text(v.Number) })
	creators := make([]principal.Actor, len(versions))
	for i, v := range versions {
		creators[i] = v.CreatedBy
	}
	by, err := s.tenancy.Actors(ctx, org, creators...)
	if err != nil {
		return nil, err
	}
	out.Body.Versions = make([]versionBody, len(versions))
	for i, v := range versions {
		out.Body.Versions[i] = versionBody{ID: httpapi.ID(v.Number), PolicyVersion: v.Number, SpecFields: toSpecFields(v.Spec), CreatedBy: by[i], CreatedAt: httpapi.Time(v.CreatedAt)}
	}
	return out, nil
}

func (s *Service) postTest(ctx context.Context, in *testInputs) (*testOutput, error) {
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
	out := &testOutput{Body: testReport{Passed: len(failed) == 0, Results: make([]testResult, len(p.Tests)), Warnings: toWarnings(remarks)}}
	for i, t := range p.Tests {
		out.Body.Results[i] = testResult{Name: t.Name, Passed: true}
	}
	for _, f := range failed {
		out.Body.Results[f.index].Passed, out.Body.Results[f.index].Message = false, &f.message
	}
	return out, nil
}

func (s *Service) showTx(ctx context.Context, tx postgres.Tx, p Policy) (policyBody, error) {
	by, err := s.tenancy.ActorsTx(ctx, tx, p.CreatedBy)
	if err != nil {
		return policyBody{}, err
	}
	return toPolicyBody(p, by[0]), nil
}

// Shown is the policy as getPolicy shows it.
func (p Policy) Shown() any { return toPolicyBody(p, httpapi.ToActor(p.CreatedBy, "")) }

// Revision counts changes of the policy.
func (p Policy) Revision() int64 { return p.Changes }
