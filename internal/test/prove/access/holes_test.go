package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/httpapi"
)

type holeInput struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991"`
}

type holeOutput struct{ Body holeBody }

type holeBody struct {
	Name string `json:"name"`
}

// TestSeededHoles puts operations with a hole on an edge of the real
// application: the matrix names each of them.
func TestSeededHoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	people := w.people(t)
	const path, read = "/api/datasets/{id}", "GET /api/datasets/{id}"
	honest := func(ctx context.Context, id int64) (dataset.Dataset, error) {
		return w.kit.App.Dataset.Find(ctx, principal.From(ctx).Org, id)
	}
	// forgetful looks in every organization until it finds the object.
	forgetful := func(ctx context.Context, id int64) (dataset.Dataset, error) {
		d, err := honest(ctx, id)
		if err != nil {
			d, err = w.kit.App.Dataset.Find(ctx, w.victim.Org, id)
		}
		return d, err
	}
	//nolint:paralleltest // the cases share the victim, whose rows they compare
	for _, c := range []struct {
		name string
		op   httpapi.Op
		find func(context.Context, int64) (dataset.Dataset, error)
		want string // part of a finding; empty if there is none
	}{
		{"none", httpapi.Op{Scope: principal.EvalRead}, honest, ""},
		{"an operation that forgets the organization", httpapi.Op{Scope: principal.EvalRead}, forgetful, "shows \"victim's own\" of the victim"},
		{"an operation with another scope than promised", httpapi.Op{Scope: principal.TracesRead}, honest, "want 401 insufficient_scope eval:read"},
		{"an operation that every key may call", httpapi.Op{Scope: principal.AnyKey}, honest, "want 401 insufficient_scope eval:read"},
		{"an operation that tells what exists", httpapi.Op{Scope: principal.EvalRead}, func(ctx context.Context, id int64) (dataset.Dataset, error) {
			d, err := honest(ctx, id)
			if _, theirs := forgetful(ctx, id); err != nil && theirs == nil {
				return d, fault.New(fault.NotFound, "not_yours", "This dataset is not yours.")
			}
			return d, err
		}, "is told from one that never was"},
		{"an operation that refuses too late", httpapi.Op{Scope: principal.EvalRead}, func(ctx context.Context, id int64) (dataset.Dataset, error) {
			if _, err := forgetful(ctx, id); err == nil {
				_, err = w.owner.Exec(ctx, "UPDATE datasets SET description = description || 'x' WHERE id = $1", id)
				require.NoError(t, err)
			}
			return honest(ctx, id)
		}, "datasets: the victim's rows were"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := w.scratch()
			c.op.ID, c.op.Method, c.op.Path, c.op.Status = "seeded", http.MethodGet, path, http.StatusOK
			httpapi.Register(e, c.op, func(ctx context.Context, in *holeInput) (*holeOutput, error) {
				d, err := c.find(ctx, in.ID)
				return &holeOutput{Body: holeBody{Name: d.Name}}, err
			})
			e.Seal()
			m := &matrix{world: w, edge: e, rules: readRules(t), callers: people}
			m.run(t)
			if c.want == "" {
				require.Empty(t, m.findings)
				return
			}
			require.Contains(t, strings.Join(m.findings, "\n"), c.want)
			for _, f := range m.findings {
				require.True(t, strings.HasPrefix(f, read) || strings.HasPrefix(f, "datasets:"), "only the seeded hole is found: %s", f)
			}
		})
	}

	t.Run("an operation that nobody wrote a rule for", func(t *testing.T) { //nolint:paralleltest // as above
		rules := readRules(t)
		delete(rules, read)
		m := &matrix{world: w, edge: w.kit.App.Edge, rules: rules}
		m.run(t)
		require.Contains(t, strings.Join(m.findings, "\n"), read+": no rule says who may call it")
	})

	t.Run("an operation whose objects nobody seeded", func(t *testing.T) { //nolint:paralleltest // as above
		e := w.scratch()
		httpapi.Register(e, httpapi.Op{ID: "seeded", Method: http.MethodGet, Path: "/api/secrets/{id}", Scope: principal.EvalRead, Status: http.StatusOK},
			func(context.Context, *holeInput) (*holeOutput, error) { return &holeOutput{}, nil })
		e.Seal()
		m := &matrix{world: w, edge: e}
		m.doc = parseDocument(t, e.OpenAPI())
		m.seeded("GET /api/secrets/{id}")
		require.Len(t, m.findings, 1)
		require.Contains(t, m.findings[0], "no noun for the parameter of /api/secrets/{id}")
	})
}

// scratch is an edge that recognises the application's callers and has no
// operations of the domains.
func (w *world) scratch() *httpapi.Edge {
	e := httpapi.New(httpapi.Options{
		Config: w.kit.App.Config.HTTP, Now: w.kit.Clock.Now,
		Authenticate: w.kit.App.Tenancy.Authenticate, ActFor: w.kit.App.Tenancy.ActFor,
	})
	e.Name(httpapi.Schemas{"Hole": holeBody{}})
	return e
}
