package consensus_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/measure/stat"
)

func ptr[T any](x T) *T { return &x }

// never is a probability that no hash is below.
const never = 1e-300

func route(t require.TestingT, c consensus.Case, scale agreement.Scale, rules consensus.Rules) consensus.Routing {
	if rules.Audit == 0 {
		rules.Audit = never
	}
	r, err := consensus.Route(c, scale, rules)
	require.NoError(t, err)
	return r
}

// The reference items: t3 and t4 go to a person, t6 does not.
func TestReferenceRouting(t *testing.T) {
	t.Parallel()
	scale := agreement.Scale{Labels: []string{"0", "1"}}
	var votes []consensus.Vote
	said := map[string][]string{}
	for i, row := range []string{"1110", "0000", "1101", "0101", "111.", "00.1", "1.10", ".000"} {
		for j, label := range row {
			if label != '.' {
				item := "t" + strconv.Itoa(i+1)
				votes = append(votes, consensus.Vote{Item: item, Annotator: "w" + strconv.Itoa(j+1), Label: string(label)})
				said[item] = append(said[item], string(label))
			}
		}
	}
	c := fit(t, votes, scale, consensus.Options{Method: consensus.MethodDawidSkene})
	for _, it := range c.Items {
		got := route(t, consensus.Case{Consensus: it, Said: said[it.Item]}, scale, consensus.Rules{}).Reasons
		if it.Item == "t3" || it.Item == "t4" {
			require.Equal(t, []consensus.Reason{consensus.ReasonPosterior, consensus.ReasonEntropy}, got, it.Item)
		} else {
			require.Empty(t, got, it.Item)
		}
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	scale := agreement.Scale{Labels: []string{"bad", "poor", "fair", "good"}, Ordered: true}
	sure := consensus.Item{Item: "i", Label: "good", Posterior: []float64{.005, .005, .01, .98}, Votes: 3, Method: consensus.MethodDawidSkene}
	half := sure
	half.Posterior = []float64{0, 0, .12, .88}
	flat := sure
	flat.Posterior = []float64{.03, .03, .03, .91}
	lost := consensus.Item{Item: "i", Votes: 3, Method: consensus.MethodDawidSkene}
	empty := sure
	empty.Votes = 0
	expert := empty
	expert.Method = consensus.MethodExpert
	unordered := scale
	unordered.Ordered = false
	for name, c := range map[string]struct {
		c     consensus.Case
		scale agreement.Scale
		rules consensus.Rules
		want  []consensus.Reason
	}{
		"nothing":                     {consensus.Case{Consensus: sure, Said: []string{"good", "fair"}}, scale, consensus.Rules{}, nil},
		"improbable":                  {consensus.Case{Consensus: half}, scale, consensus.Rules{Entropy: 1}, []consensus.Reason{consensus.ReasonPosterior}},
		"improbable, but allowed":     {consensus.Case{Consensus: half}, scale, consensus.Rules{Entropy: 1, Posterior: .8}, nil},
		"open":                        {consensus.Case{Consensus: flat}, scale, consensus.Rules{}, []consensus.Reason{consensus.ReasonEntropy}},
		"far apart":                   {consensus.Case{Consensus: sure, Said: []string{"good", "fair", "poor"}}, scale, consensus.Rules{}, []consensus.Reason{consensus.ReasonDistance}},
		"not far enough":              {consensus.Case{Consensus: sure, Said: []string{"good", "poor"}}, scale, consensus.Rules{Steps: 3}, nil},
		"labels without an order":     {consensus.Case{Consensus: sure, Said: []string{"good", "bad"}}, unordered, consensus.Rules{}, nil},
		"the judge says otherwise":    {consensus.Case{Consensus: sure, Judge: "bad"}, scale, consensus.Rules{}, []consensus.Reason{consensus.ReasonContradiction}},
		"the judge agrees":            {consensus.Case{Consensus: sure, Judge: "good"}, scale, consensus.Rules{}, nil},
		"the judge is unsure":         {consensus.Case{Consensus: sure, Confidence: ptr(.7)}, scale, consensus.Rules{Confidence: ptr(.8)}, []consensus.Reason{consensus.ReasonConfidence}},
		"nobody says how sure":        {consensus.Case{Consensus: sure}, scale, consensus.Rules{Confidence: ptr(.8)}, nil},
		"not what is known":           {consensus.Case{Consensus: sure, Gold: "fair"}, scale, consensus.Rules{}, []consensus.Reason{consensus.ReasonGold}},
		"what is known":               {consensus.Case{Consensus: sure, Gold: "good"}, scale, consensus.Rules{}, nil},
		"critical":                    {consensus.Case{Consensus: sure, Said: []string{"good", "fair"}}, scale, consensus.Rules{Critical: []string{"fair"}}, []consensus.Reason{consensus.ReasonCritical}},
		"critical, the judge says":    {consensus.Case{Consensus: sure, Judge: "good"}, scale, consensus.Rules{Critical: []string{"good"}}, []consensus.Reason{consensus.ReasonCritical}},
		"not identified":              {consensus.Case{Consensus: lost, Judge: "bad", Gold: "bad"}, scale, consensus.Rules{}, []consensus.Reason{consensus.ReasonNoConsensus}},
		"no vote counts":              {consensus.Case{Consensus: empty}, scale, consensus.Rules{}, []consensus.Reason{consensus.ReasonNoConsensus}},
		"an expert decided, no votes": {consensus.Case{Consensus: expert}, scale, consensus.Rules{}, nil},
		"drawn":                       {consensus.Case{Consensus: sure}, scale, consensus.Rules{Audit: 1}, []consensus.Reason{consensus.ReasonAudit}},
		"drawn as well":               {consensus.Case{Consensus: half}, scale, consensus.Rules{Audit: 1, Entropy: 1}, []consensus.Reason{consensus.ReasonPosterior, consensus.ReasonAudit}},
	} {
		got := route(t, c.c, c.scale, c.rules)
		require.Equal(t, append([]consensus.Reason{}, c.want...), got.Reasons, name)
		require.Equal(t, len(c.want) > 0, got.Adjudicate(), name)
		require.Equal(t, slices.Equal(c.want, []consensus.Reason{consensus.ReasonAudit}), got.Audited(), name)
		if len(c.want) > 0 && !got.Audited() {
			require.InDelta(t, 1, got.Probability, 0, name)
		}
	}
}

// An audit draws the share that it says, the same items each time, and more with a
// higher probability; which ones depends on every name.
func TestAuditsAreDrawn(t *testing.T) {
	t.Parallel()
	const n = 100_000
	drawn, other := 0, 0
	for i := range n {
		item := fmt.Sprint("item ", i)
		is := consensus.Drawn("org", "task", item, .02)
		require.Equal(t, is, consensus.Drawn("org", "task", item, .02))
		if is {
			drawn++
			require.True(t, consensus.Drawn("org", "task", item, .1))
			if consensus.Drawn("org", "another task", item, .02) {
				other++
			}
		}
	}
	require.InDelta(t, .02, float64(drawn)/n, 4*math.Sqrt(.02*.98/n))
	require.InDelta(t, .02, float64(other)/float64(drawn), 4*math.Sqrt(.02*.98/float64(drawn)))
	require.NotEqual(t, drawnItems("a", "bc"), drawnItems("ab", "c"), "names do not run together")
}

func drawnItems(organization, task string) string {
	var out strings.Builder
	for i := range 1000 {
		fmt.Fprint(&out, consensus.Drawn(organization, task, strconv.Itoa(i), .5))
	}
	return out.String()
}

func TestAuditedProbability(t *testing.T) {
	t.Parallel()
	sure := consensus.Item{Item: "i", Label: "pass", Posterior: []float64{.99, .01}, Votes: 3}
	require.InDelta(t, .02, route(t, consensus.Case{Consensus: sure}, passFail, consensus.Rules{Audit: .02}).Probability, 0)
}

func TestUnseenErrors(t *testing.T) {
	t.Parallel()
	u, err := consensus.Audit(1000, 20, 2, 0)
	require.NoError(t, err)
	require.InDelta(t, .1, *u.Errors.Value, 1e-12)
	require.InDelta(t, 100, *u.Wrong, 1e-9)
	// Wilson's interval of 2 of 20.
	require.InDelta(t, .02786648, *u.Errors.CI.Lower, 1e-8)
	require.InDelta(t, .30103364, *u.Errors.CI.Upper, 1e-8)
	none, err := consensus.Audit(1000, 0, 0, 0)
	require.NoError(t, err)
	require.Equal(t, stat.StatusInsufficient, none.Errors.Status)
	require.Nil(t, none.Wrong)
	clean, err := consensus.Audit(1000, 20, 0, 0)
	require.NoError(t, err)
	require.Greater(t, *clean.Errors.CI.Upper, .1, "20 items without an error do not prove that there is none")
	for _, wrong := range [][3]int{{10, 11, 0}, {10, 5, 6}, {10, 5, -1}} {
		_, err = consensus.Audit(wrong[0], wrong[1], wrong[2], 0)
		require.ErrorIs(t, err, stat.ErrInput)
	}
}

func TestMalformedCases(t *testing.T) {
	t.Parallel()
	sure := consensus.Item{Item: "i", Label: "pass", Posterior: []float64{.99, .01}, Votes: 3}
	for name, c := range map[string]struct {
		c     consensus.Case
		rules consensus.Rules
	}{
		"a label off the scale":     {consensus.Case{Consensus: sure, Said: []string{"x"}}, consensus.Rules{}},
		"the judge's off the scale": {consensus.Case{Consensus: sure, Judge: "x"}, consensus.Rules{}},
		"gold off the scale":        {consensus.Case{Consensus: sure, Gold: "x"}, consensus.Rules{}},
		"a posterior too few":       {consensus.Case{Consensus: consensus.Item{Item: "i", Posterior: []float64{1}}}, consensus.Rules{}},
		"confidence":                {consensus.Case{Consensus: sure, Confidence: ptr(2.)}, consensus.Rules{}},
		"rule: posterior":           {consensus.Case{Consensus: sure}, consensus.Rules{Posterior: 2}},
		"rule: entropy":             {consensus.Case{Consensus: sure}, consensus.Rules{Entropy: -1}},
		"rule: audit":               {consensus.Case{Consensus: sure}, consensus.Rules{Audit: math.NaN()}},
		"rule: steps":               {consensus.Case{Consensus: sure}, consensus.Rules{Steps: -1}},
		"rule: confidence":          {consensus.Case{Consensus: sure}, consensus.Rules{Confidence: ptr(-1.)}},
		"rule: critical label":      {consensus.Case{Consensus: sure}, consensus.Rules{Critical: []string{"x"}}},
	} {
		_, err := consensus.Route(c.c, passFail, c.rules)
		require.ErrorIs(t, err, stat.ErrInput, name)
	}
}

// Whatever a consensus comes to can be routed, and an item that nobody needs to
// see has a probable label.
func TestEveryConsensusCanBeRouted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		said := map[string][]string{}
		for _, v := range d.votes {
			said[v.Item] = append(said[v.Item], v.Label)
		}
		for _, it := range d.fit(r).Items {
			got := route(r, consensus.Case{Consensus: it, Said: said[it.Item]}, d.scale, consensus.Rules{})
			if !got.Adjudicate() {
				require.NotEmpty(r, it.Label)
				require.GreaterOrEqual(r, *it.Probability, .9)
			}
		}
	})
}
