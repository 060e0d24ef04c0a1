// Package policy_test measures what an agent waits for: a decision, which is recorded, against
// reading one record; and decisions of an organization with a thousand policies against
// one with ten.
package policy_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/testkit"
)

// connections is how many agents ask at the same time.
const connections = 8

// question is about a tool that may be called; its answer differs with its order.
const question = `{"runtimeKey":"refund-agent","toolInvocation":{"connectorKey":"payments","toolName":"look_up","arguments":{"order":"A-%d","amount":"240.00"}}}`

// size says how much is measured.
type size struct {
	many, few    int // policies
	fewest, most int // rounds
	slice        int // requests that make one measure
}

func TestBench(t *testing.T) {
	t.Parallel()
	n := size{many: 1000, few: 10, fewest: bench.MinRounds, most: 21, slice: 200}
	switch {
	case bench.Raced:
		n = size{many: 20, few: 10, fewest: 2, most: 2, slice: 20}
	case bench.Whole():
		n = size{many: 1000, few: 10, fewest: 31, most: 31, slice: 1000}
	}
	kit := testkit.Own(t, "a bench measures it")
	few, many := world(t, kit, n.few), world(t, kit, n.many)
	bench.Report(t,
		func() bench.Figure { return againstRead(t, kit, n, few) },
		func() bench.Figure { return againstFew(t, kit, n, few, many) },
	)
}

// world is an organization with so many policies, of which the last permits what agents
// ask.
func world(t testing.TB, kit *testkit.Kit, policies int) *testkit.Client {
	t.Helper()
	c := kit.Org(t)
	_, ann := c.Person(t, principal.Admin)
	ann.Connector(t, "payments", map[string]string{"look_up": "read", "refund": "transact"})
	for i := range policies - 1 { // the baseline is one more
		_, err := ann.Call(t.Context(), "POST", "/api/policies", map[string]any{"policyKey": fmt.Sprintf("p-%d", i), "state": "active", "source": fmt.Sprintf(
			`forbid (principal, action == Action::"tool.call", resource)
when { context.connector_key == "connector-%d" && context.tool_name == "tool-%d" && context has amount && context.amount.greaterThan(decimal("%d.0")) };`, i%100, i, 100+i)}, nil)
		require.NoError(t, err)
	}
	return c
}

// load is agents that send requests.
func load(t testing.TB, kit *testkit.Kit, requests ...[]byte) bench.Load {
	t.Helper()
	l := bench.Load{Now: time.Now, Requests: requests}
	for range connections {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(kit.URL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		l.Conns = append(l.Conns, bench.NewConn(conn))
	}
	return l
}

// asking is agents that ask.
func asking(t testing.TB, kit *testkit.Kit, c *testkit.Client) bench.Load {
	t.Helper()
	var requests [][]byte
	for i := range 500 {
		requests = append(requests, bench.Post("/api/agent-evidence/policy/evaluate", c.Key.Reveal(), fmt.Sprintf(question, i)))
	}
	return load(t, kit, requests...)
}

// againstRead compares deciding with reading a decision.
func againstRead(t testing.TB, kit *testkit.Kit, n size, c *testkit.Client) bench.Figure {
	t.Helper()
	var reads [][]byte
	for i := range 100 {
		d, err := c.Evaluate(t.Context(), map[string]any{"runtimeKey": "refund-agent", "toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "look_up", "arguments": map[string]any{"order": i}}})
		require.NoError(t, err)
		require.Equal(t, "allow", d["decision"])
		reads = append(reads, bench.Get(fmt.Sprintf("/api/agent-evidence/policy-decisions/%d", d.ID()), c.Key.Reveal()))
	}
	decide, read := asking(t, kit, c), load(t, kit, reads...)
	rounds := measure(t, n, decide, read)
	return bench.Figure{
		Name: "evaluate", Goal: 0.8, Bound: 0.5, Short: 0.1, Least: true, Got: rounds.Ratio(0, 1),
		Says: fmt.Sprintf("decisions a second over HTTP (%.0f) ÷ reads of a decision (%.0f)", rounds.Median(0), rounds.Median(1)),
	}
}

// againstFew compares many policies with few.
func againstFew(t testing.TB, kit *testkit.Kit, n size, few, many *testkit.Client) bench.Figure {
	t.Helper()
	rounds := measure(t, n, asking(t, kit, many), asking(t, kit, few))
	return bench.Figure{
		Name: "policies", Goal: 0.7, Bound: 0.4, Least: true, Got: rounds.Ratio(0, 1),
		Says: fmt.Sprintf("decisions a second with %d policies (%.0f) ÷ with %d (%.0f)", n.many, rounds.Median(0), n.few, rounds.Median(1)),
	}
}

// measure measures two loads in alternation; the first round warms up.
func measure(t testing.TB, n size, a, b bench.Load) bench.Rounds {
	t.Helper()
	rounds, err := bench.Run(n.fewest+1, n.most+1, func(bench.Rounds) bool { return true },
		func() (float64, error) { return a.Rate(n.slice) }, func() (float64, error) { return b.Rate(n.slice) })
	require.NoError(t, err)
	return rounds[1:]
}
