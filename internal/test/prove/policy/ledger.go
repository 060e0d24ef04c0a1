package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/guard"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// verifyWithin is how soon payments must be verified.
const verifyWithin = 20 * time.Second

// payable lets agents pay without asking, if they look what became of it.
const payable = `@id("pay") @obligations("record_side_effect, verify_side_effect(within_seconds=20)")
permit (principal, action == Action::"tool.call", resource) when { context.connector_key == "payments" };`

// agents is how many pay at the same time.
const agents = 8

// pay has agents pay through a bank that cannot be trusted, while a server is killed,
// and counts the payments that the ledger does not show. One that is made under the decision
// about another must be shown as such.
func (s *system) pay(ctx context.Context, payments int) (unseen int, err error) {
	t, err := s.payers(ctx)
	if err != nil {
		return 0, err
	}
	b := newBank(s.Seed)
	r := rand.New(rand.NewPCG(s.Seed, 4))
	var g errgroup.Group
	g.SetLimit(agents)
	var answered atomic.Int64
	for i := range payments {
		h, at := habits[r.IntN(len(habits))], s.replicas[i%len(s.replicas)].URL
		if i == payments/2 {
			if err := s.fault(ctx, r, &answered, 0, 1); err != nil {
				return 0, err
			}
		}
		g.Go(func() error {
			defer answered.Add(1)
			return payOne(ctx, guard.New(guard.Config{URL: at, Key: t.Key, Runtime: "refund-agent", Timeout: rig.Patience}), b, h, fmt.Sprintf("payment %d %s", i, s.Removed), 100+i)
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if s.Removed == "" {
		// An agent that pays without a guard leaves nothing. The check has to notice it.
		_ = b.pay(honest, "unguarded", 1)
	}
	missing, states, err := s.missing(ctx, t, b)
	if err != nil {
		return 0, err
	}
	if s.Removed == "" {
		if !slices.Contains(missing, "unguarded") {
			return 0, fmt.Errorf("a payment without a guard: %w", rig.ErrUnnoticed)
		}
		missing = slices.DeleteFunc(missing, func(key string) bool { return key == "unguarded" })
	}
	unseen = len(missing)
	if noticed, err := s.reuse(ctx, t); err != nil {
		return 0, err
	} else if !noticed {
		unseen++
	}
	rig.Say("payments %d, made %d, states %v, unseen %d", payments, len(b.paid), states, unseen)
	return unseen, nil
}

// reuse pays twice under one decision, and reports whether the ledger allows only the first.
func (s *system) reuse(ctx context.Context, t tenant) (noticed bool, err error) {
	var d struct {
		ID int64 `json:"id"`
	}
	err = s.Post(ctx, t.Organization, "/api/agent-evidence/policy/evaluate", "reuse", map[string]any{
		"runtimeKey": "refund-agent", "supportedObligations": []string{"record_side_effect", "verify_side_effect"},
		"toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "refund", "arguments": map[string]any{"order": "one"}},
	}, &d)
	var said []string
	for _, order := range []string{"one", "two"} {
		if err != nil {
			return false, err
		}
		var e struct {
			Authorization string `json:"authorization"`
		}
		err = s.Post(ctx, t.Organization, "/api/agent-evidence/side-effect-ledger", "reuse "+order, map[string]any{
			"runtimeKey": "refund-agent", "connectorKey": "payments", "operation": "refund", "sideEffectClass": "transact", "state": "dispatched",
			"target": map[string]any{"system": "bank", "type": "payment", "id": order}, "effectKey": order, "policyDecisionId": d.ID,
		}, &e)
		said = append(said, e.Authorization)
	}
	return slices.Equal(said, []string{"allowed", "spent"}), err
}

// payers is an organization whose agents may pay.
func (s *system) payers(ctx context.Context) (t tenant, err error) {
	o, err := s.Bootstrap(ctx, "Payers "+s.Removed)
	if err != nil {
		return t, err
	}
	if t, err = s.settle(ctx, o); err != nil {
		return t, err
	}
	var page struct {
		Policies []struct {
			ID string `json:"id"`
		} `json:"policies"`
	}
	if err := s.Insist(ctx, t.ann.Organization, http.MethodGet, "/api/policies?policyKey=baseline", "", nil, &page); err != nil {
		return t, err
	}
	if len(page.Policies) != 1 {
		return t, errors.New("there is no baseline")
	}
	if err := s.Insist(ctx, t.ann.Organization, http.MethodPatch, "/api/policies/"+page.Policies[0].ID, "retire", map[string]any{"state": "retired"}, nil); err != nil {
		return t, err
	}
	return t, s.Post(ctx, t.ann.Organization, "/api/policies", "payable", map[string]any{"policyKey": "payable", "source": payable, "state": "active"}, nil)
}

// tries is how often a payment is tried that was not sent.
const tries = 3

// payOne makes one payment. If a server was away until the decision had expired, nothing was
// sent, and it is made under another name.
func payOne(ctx context.Context, g *guard.Guard, b *bank, h habit, key string, amount int) (err error) {
	for i := range tries {
		name := key
		if i > 0 {
			name = fmt.Sprintf("%s again %d", key, i)
		}
		if err = payOnce(ctx, g, b, h, name, amount); !unsent(err) {
			return err
		}
	}
	return err
}

// unsent reports whether guard says that it has sent nothing for want of a decision that
// still holds.
func unsent(err error) bool {
	return errors.Is(err, guard.ErrUnavailable) || errors.Is(err, guard.ErrDenied) && strings.Contains(err.Error(), `"expired"`)
}

// payOnce tries to make a payment. An error of the bank is expected, and so is an agent that
// dies; a payment that the policies do not allow is not.
func payOnce(ctx context.Context, g *guard.Guard, b *bank, h habit, key string, amount int) (err error) {
	defer func() {
		why := recover()
		if died, ok := why.(error); why != nil && (!ok || !errors.Is(died, errBank)) {
			err = fmt.Errorf("panic: %v", why)
		}
	}()
	_, err = guard.Do(ctx, g, guard.Tool{
		Connector: "payments", Name: "refund", Invocation: key, Target: guard.Target{System: "bank", Type: "payment", ID: key},
		Verify: func(context.Context, string) (guard.Finding, error) { return b.look(key, amount) },
	}, map[string]any{"amount": strconv.Itoa(amount), "order": key}, func(_ context.Context, key string) (struct{}, error) {
		return struct{}{}, b.pay(h, key, amount)
	})
	if errors.Is(err, guard.ErrDenied) || errors.Is(err, guard.ErrUnavailable) || errors.Is(err, guard.ErrUnrecorded) {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// entry is a side effect as the ledger shows it.
type entry struct {
	EffectKey string `json:"effect_key"`
	State     string `json:"state"`
	Overdue   bool   `json:"overdue"`
}

// settled reports whether somebody knows, or is being told, what became of an effect.
func (e entry) settled() bool {
	return e.State == "verified" || e.State == "conflicting" || e.Overdue
}

// missing are the payments that were made and that the ledger does not show, once there
// was time to verify them.
func (s *system) missing(ctx context.Context, t tenant, b *bank) (keys []string, states map[string]int, err error) {
	for limit := time.Now().Add(verifyWithin + 30*time.Second); ; {
		all, err := s.ledger(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		keys, states = nil, map[string]int{}
		for _, e := range all {
			name := e.State
			if e.Overdue {
				name += " overdue"
			}
			states[name]++
		}
		for _, key := range slices.Sorted(maps.Keys(b.paid)) {
			if e, ok := all[key]; !ok || !e.settled() {
				keys = append(keys, key)
			}
		}
		if len(keys) == 0 || len(keys) == 1 && keys[0] == "unguarded" || time.Now().After(limit) {
			return keys, states, nil
		}
		if err := rig.Sleep(ctx, 500*time.Millisecond); err != nil {
			return nil, nil, err
		}
	}
}

// ledger is the whole ledger, by the keys of its effects.
func (s *system) ledger(ctx context.Context, t tenant) (map[string]entry, error) {
	all, cursor := map[string]entry{}, ""
	for {
		var page struct {
			Records []entry `json:"records"`
			Next    *string `json:"next_cursor"`
		}
		if err := s.Insist(ctx, t.Organization, http.MethodGet, "/api/agent-evidence/side-effect-ledger?limit=100"+cursor, "", nil, &page); err != nil {
			return nil, err
		}
		for _, e := range page.Records {
			all[e.EffectKey] = e
		}
		if page.Next == nil {
			return all, nil
		}
		cursor = "&cursor=" + *page.Next
	}
}
