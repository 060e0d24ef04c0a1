package httpapi_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

func nothing(context.Context, *struct{}) (*okOut, error) { return &okOut{}, nil }

// TestRegisterRefusesMistakes shows that a mistake in the route table ends the
// process when it starts, before anyone can meet it.
func TestRegisterRefusesMistakes(t *testing.T) {
	t.Parallel()
	op := httpapi.Op{ID: "odd", Method: "GET", Path: "/odd", Tag: "Odd", Scope: principal.EvalRead, Status: 200}

	t.Run("an operation after Seal", func(t *testing.T) {
		t.Parallel()
		e := httpapi.New(httpapi.Options{})
		e.Seal()
		require.PanicsWithValue(t, "httpapi: odd is registered after Seal", func() { httpapi.Register(e, op, nothing) })
	})

	t.Run("a public path with a parameter", func(t *testing.T) {
		t.Parallel()
		public := op
		public.Path, public.Scope = "/odd/{id}", principal.Public
		require.Panics(t, func() {
			httpapi.Register(httpapi.New(httpapi.Options{}), public, func(context.Context, *ThingPath) (*okOut, error) { return nil, nil })
		})
	})

	t.Run("a scope that no key can have", func(t *testing.T) {
		t.Parallel()
		typo := op
		typo.Scope = "eval:raed"
		require.PanicsWithValue(t, "httpapi: odd needs the scope eval:raed, which no key can have", func() {
			httpapi.Register(httpapi.New(httpapi.Options{}), typo, nothing)
		})
	})

	t.Run("a raw operation", func(t *testing.T) {
		t.Parallel()
		raw := op
		raw.Raw = true
		require.PanicsWithValue(t, "httpapi: odd is raw; add it with Handle", func() {
			httpapi.Register(httpapi.New(httpapi.Options{}), raw, nothing)
		})
	})

	t.Run("a path parameter that the input does not have", func(t *testing.T) {
		t.Parallel()
		missing := op
		missing.Path = "/odd/{id}"
		require.Panics(t, func() { httpapi.Register(httpapi.New(httpapi.Options{}), missing, nothing) })
	})

	t.Run("a body without a name", func(t *testing.T) {
		t.Parallel()
		type input struct {
			Body struct {
				Name string `json:"name"`
			}
		}
		post := op
		post.Method = "POST"
		require.Panics(t, func() {
			httpapi.Register(httpapi.New(httpapi.Options{}), post, func(context.Context, *input) (*okOut, error) { return nil, nil })
		})
	})

	t.Run("a method that the interface does not use", func(t *testing.T) {
		t.Parallel()
		trace := op
		trace.Method = "TRACE"
		require.Panics(t, func() { httpapi.Register(httpapi.New(httpapi.Options{}), trace, nothing) })
	})
}
