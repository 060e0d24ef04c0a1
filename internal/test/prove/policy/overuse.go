package policy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// overuse presents approvals, each to all servers at the same time, and counts the
// decisions that rest on one that was used up. Servers and PostgreSQL are killed
// meanwhile.
func (s *system) overuse(ctx context.Context, n, evaluations, faults int) (overused int, err error) {
	r := rand.New(rand.NewPCG(s.Seed, 1))
	done := 0
	for i := range n {
		uses := 1 + i%3
		id, question, err := s.approved(ctx, s.tenants[0], fmt.Sprintf("overuse %d %s", i, s.tag()), uses)
		if err != nil {
			return 0, err
		}
		kill := done < faults && i*faults >= done*n
		var g errgroup.Group
		var answered atomic.Int64
		for j := range evaluations {
			g.Go(func() error {
				defer answered.Add(1)
				at := s.replicas[j%len(s.replicas)]
				err := at.Post(ctx, s.tenants[0].Organization, evaluate, fmt.Sprintf("use %d %d %s", i, j, s.tag()), question, nil)
				if expired(err) {
					return nil
				}
				return err
			})
		}
		if kill {
			done++
			if err := s.fault(ctx, r, &answered, int64(r.IntN(evaluations/2)), done); err != nil {
				return 0, errors.Join(err, g.Wait())
			}
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
		allowed, err := s.allowed(ctx, id)
		if err != nil {
			return 0, err
		}
		_, counted, err := s.state(ctx, s.tenants[0].Organization, id)
		if err != nil {
			return 0, err
		}
		if allowed != uses || counted != uses {
			rig.Say("approval %d was for %d, %d decisions rest on it, and it says %d", id, uses, allowed, counted)
		}
		if allowed < uses {
			return 0, fmt.Errorf("approval %d was used %d times of %d: a use was lost", id, allowed, uses)
		}
		overused += allowed - uses
	}
	s.say("approvals %d, each presented %d times to %d servers, faults %d, overused %d", n, evaluations, len(s.replicas), done, overused)
	return overused, nil
}

// expired reports whether the answer to a question was lost and asked for again too late.
// Its decision was made, and counts.
func expired(err error) bool {
	var no *rig.Refusal
	return errors.As(err, &no) && no.Status == http.StatusConflict && strings.Contains(no.Text, "decision_expired")
}

// approved is an approval for so many uses that somebody has given, and the question that
// presents it.
func (s *system) approved(ctx context.Context, t tenant, order string, uses int) (int64, map[string]any, error) {
	var d decision
	if err := s.Post(ctx, t.Organization, evaluate, "ask "+order, refund(order, "240.00", nil), &d); err != nil {
		return 0, nil, err
	}
	var made struct {
		ID int64 `json:"id"`
	}
	if err := s.Post(ctx, t.Organization, approvals, "request "+order, map[string]any{
		"title": "A refund", "reason": "The goods came back.", "policyDecisionId": d.ID, "maxUses": uses,
	}, &made); err != nil {
		return 0, nil, err
	}
	err := s.Insist(ctx, t.ann.Organization, http.MethodPatch, fmt.Sprintf("%s/%d", approvals, made.ID), "yes "+order, map[string]any{"decision": "approved"}, nil)
	return made.ID, refund(order, "240.00", map[string]any{"approvalId": made.ID}), err
}

// allowed counts the decisions that rest on an approval.
func (s *system) allowed(ctx context.Context, approval int64) (n int, err error) {
	cursor := ""
	for {
		var page struct {
			Records []struct {
				ApprovalID int64 `json:"approval_id"`
			} `json:"records"`
			Next *string `json:"next_cursor"`
		}
		if err := s.Insist(ctx, s.tenants[0].Organization, http.MethodGet, "/api/agent-evidence/policy-decisions?decision=allow&limit=100"+cursor, "", nil, &page); err != nil {
			return 0, err
		}
		for _, r := range page.Records {
			if r.ApprovalID == approval {
				n++
			}
		}
		if page.Next == nil {
			return n, nil
		}
		cursor = "&cursor=" + *page.Next
	}
}

// fault kills a server, or PostgreSQL, once so many evaluations were answered.
func (s *system) fault(ctx context.Context, r *rand.Rand, answered *atomic.Int64, after int64, number int) error {
	for answered.Load() < after {
		if err := rig.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	began := time.Now()
	f := rig.Fault{Name: "server killed", Run: s.replicas[r.IntN(len(s.replicas))].KillServer}
	if number%3 == 0 {
		f = s.KillEngine("postgres")
	}
	if err := f.Run(ctx); err != nil {
		return err
	}
	rig.Say("fault %2d  %-16s %5.1f s  after %d evaluations", number, f.Name, time.Since(began).Seconds(), after)
	return nil
}
