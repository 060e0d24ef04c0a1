package policy

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// suspend suspends a runtime through one server, again and again, and counts the
// evaluations that are not denied afterwards, on any server.
func (s *system) suspend(ctx context.Context, trials int) (late int, err error) {
	t := s.tenants[0]
	look := map[string]any{"runtimeKey": "suspended-agent", "toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "look_up"}}
	everywhere := func() ([]decision, error) {
		decisions := make([]decision, len(s.replicas))
		var g errgroup.Group
		for i, r := range s.replicas {
			g.Go(func() error { return r.Post(ctx, t.Organization, evaluate, "", look, &decisions[i]) })
		}
		return decisions, g.Wait()
	}
	if _, err := everywhere(); err != nil { // the runtime is there now
		return 0, err
	}
	var found struct {
		Records []struct {
			ID int64 `json:"id"`
		} `json:"records"`
	}
	if err := s.Insist(ctx, t.Organization, http.MethodGet, "/api/agent-evidence/runtimes?runtimeKey=suspended-agent", "", nil, &found); err != nil {
		return 0, err
	}
	if len(found.Records) != 1 {
		return 0, fmt.Errorf("there are %d runtimes", len(found.Records))
	}
	for i := range trials {
		at := fmt.Sprintf("/api/agent-evidence/runtimes/%d", found.Records[0].ID)
		set := func(state string) error {
			return s.replicas[i%len(s.replicas)].Insist(ctx, t.ann.Organization, http.MethodPatch, at, fmt.Sprintf("%s %d %s", state, i, s.tag()), map[string]any{"state": state}, nil)
		}
		before, err := everywhere()
		if err != nil {
			return 0, err
		}
		if err := set("suspended"); err != nil {
			return 0, err
		}
		after, err := everywhere()
		if err != nil {
			return 0, err
		}
		for r := range s.replicas {
			if before[r].Decision != "allow" {
				return 0, fmt.Errorf("trial %d: the runtime is active, and the decision is %s %v", i, before[r].Decision, before[r].codes())
			}
			if after[r].Decision != "deny" {
				late++
				rig.Say("trial %d: the runtime is suspended, and server %d says %s", i, r, after[r].Decision)
			}
		}
		if err := set("active"); err != nil {
			return 0, err
		}
	}
	s.say("suspensions %d, on %d servers, late denials %d", trials, len(s.replicas), late)
	return late, nil
}
