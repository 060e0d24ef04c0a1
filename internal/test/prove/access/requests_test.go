package main

import (
	"strings"
	"testing"

	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// kind is the kind of object that a path parameter names, by the path up to and
// including the parameter.
func kind(upTo string) string {
	n, _ := specimen.NounOf(upTo)
	return n.Name
}

// request is a valid call of an operation; id gives each path parameter. It
// changes nothing that matters: what it creates is thrown away with the test.
func (m *matrix) request(t testing.TB, name string, id func(upTo string) string) call {
	t.Helper()
	o := specimen.OfRoute(name)
	method, path, _ := strings.Cut(name, " ")
	target := specimen.Chosen(path)
	for _, upTo := range specimen.Params(path) {
		target = specimen.FillPath(target, upTo, id(upTo))
	}
	return call{method: method, target: target + m.world.ours.Fill(t, o.Query), body: m.world.ours.Fill(t, o.Body)}
}
