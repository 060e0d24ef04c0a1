package judging_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/probe"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestTheWorkflowAsksForEveryStretchAndConcludes(t *testing.T) {
	t.Parallel()
	why := &probe.Error{Code: "spend_cap_reached", Message: "The cap is reached."}
	for name, c := range map[string]struct {
		begun     probe.Begun
		stopAt    int // the unit from which a stretch cannot go on; 0 for none
		stretches [][2]int
		stop      *probe.Error
	}{
		"all of it":       {probe.Begun{Units: 250}, 0, [][2]int{{0, 100}, {100, 200}, {200, 300}}, nil},
		"nothing to do":   {probe.Begun{Stop: why}, 0, nil, why},
		"stopped halfway": {probe.Begun{Units: 250}, 100, [][2]int{{0, 100}, {100, 200}}, why},
		"already ended":   {probe.Begun{Units: 250, Ended: true}, 0, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := temporaltest.Environment()
			var asked [][2]int
			var concluded []probe.Conclusion
			add := func(name string, fn any) { env.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name}) }
			add("BeginProbe", func(context.Context, probe.Ticket) (probe.Begun, error) { return c.begun, nil })
			add("JudgeStretch", func(_ context.Context, s probe.Stretch) (probe.Done, error) {
				asked = append(asked, [2]int{s.From, s.To})
				if c.stopAt > 0 && s.From >= c.stopAt {
					return probe.Done{Stop: why}, nil
				}
				return probe.Done{}, nil
			})
			add("ConcludeProbe", func(_ context.Context, end probe.Conclusion) error {
				concluded = append(concluded, end)
				return nil
			})
			ticket := probe.Ticket{Org: principal.OrgID(uuid.New()), Probe: 7}

			env.ExecuteWorkflow(probe.AskWorkflow, ticket)

			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, c.stretches, asked)
			require.Equal(t, []probe.Conclusion{{Ticket: ticket, Stop: c.stop}}, concluded)
		})
	}
}

// A workflow that is cancelled waits for what is under way, and then concludes.
func TestACancelledWorkflowConcludes(t *testing.T) {
	t.Parallel()
	for name, done := range map[string]probe.Done{"the stretch saw it": {Ended: true}, "the stretch did not": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := temporaltest.Environment()
			var happened []string
			add := func(name string, fn any) { env.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name}) }
			add("BeginProbe", func(context.Context, probe.Ticket) (probe.Begun, error) { return probe.Begun{Units: 250}, nil })
			add("JudgeStretch", func(context.Context, probe.Stretch) (probe.Done, error) {
				happened = append(happened, "stretch")
				env.CancelWorkflow()
				return done, nil
			})
			add("ConcludeProbe", func(_ context.Context, end probe.Conclusion) error {
				happened = append(happened, "conclusion")
				require.True(t, end.Cancelled)
				return nil
			})

			env.ExecuteWorkflow(probe.AskWorkflow, probe.Ticket{Org: principal.OrgID(uuid.New()), Probe: 7})

			require.True(t, env.IsWorkflowCompleted())
			require.Equal(t, []string{"stretch", "conclusion"}, happened)
		})
	}
}

func TestProbeHistories(t *testing.T) {
	t.Parallel()
	scene := func(items int) temporaltest.Scene {
		return func(t *testing.T) (temporal.Config, string) {
			k := testkit.Working(t)
			us := k.Org(t)
			c, err := us.CreateJudgeConfig(t.Context(), map[string]any{"key": "recorded", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
			require.NoError(t, err)
			body := map[string]any{"kinds": []string{"verbosity", "formatting"}, "sampleSize": 60}
			if items > 0 {
				body["datasetId"] = filled(t, us, items, 1)
			}
			p, err := us.ProbeJudgeConfig(t.Context(), c.ID, body)
			require.NoError(t, err)
			ended(t, us, p.ID)
			id, err := strconv.ParseInt(p.ID, 10, 64)
			require.NoError(t, err)
			return k.App.Config.Temporal, probe.Ticket{Org: us.Org, Probe: id}.WorkflowID()
		}
	}
	temporaltest.Histories(t, "probe", probe.AskWorkflow, map[string]temporaltest.Scene{"probe_recorded": scene(60), "probe_that_cannot_begin": scene(0)})
}
