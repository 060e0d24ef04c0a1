package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// decision is what the policies say.
type decision struct {
	ID              int64     `json:"id"`
	Decision        string    `json:"decision"`
	Allowed         bool      `json:"allowed"`
	ApprovalID      int64     `json:"approval_id"`
	SideEffectClass string    `json:"side_effect_class"`
	Reversibility   string    `json:"reversibility"`
	CreatedAt       time.Time `json:"created_at"`
	ExpiresAt       time.Time `json:"expires_at"`
	Reasons         []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"reasons"`
	Obligations []struct {
		Type string `json:"type"`
	} `json:"obligations"`

	until time.Time // by the clock of this machine
}

// harmless reports whether the action changes nothing.
func (d decision) harmless() bool { return d.SideEffectClass == "none" || d.SideEffectClass == "read" }

// obliges reports whether the caller must do something.
func (d decision) obliges(what string) bool {
	for _, o := range d.Obligations {
		if o.Type == what {
			return true
		}
	}
	return false
}

// why are the reasons as a text.
func (d decision) why() string {
	var all []string
	for _, r := range d.Reasons {
		if r.Message != "" {
			all = append(all, r.Code+": "+r.Message)
		} else {
			all = append(all, r.Code)
		}
	}
	return strings.Join(all, "; ")
}

// effect is an entry of the ledger.
type effect struct {
	ID            int64  `json:"id"`
	Authorization string `json:"authorization"`
	DuplicateOfID int64  `json:"duplicate_of_id"`
}

type verification struct {
	Method     string    `json:"method"`
	Result     string    `json:"result"`
	ObservedAt time.Time `json:"observedAt"`
}

// evaluate asks the policies.
func (g *Guard) evaluate(ctx context.Context, tool Tool, args any, approval int64) (d decision, err error) {
	body := map[string]any{
		"runtimeKey": g.cfg.Runtime, "supportedObligations": g.supported(tool),
		"toolInvocation": map[string]any{"connectorKey": tool.Connector, "toolName": tool.Name, "arguments": args, "invocationId": tool.Invocation},
	}
	if tool.Context != nil {
		body["context"] = tool.Context
	}
	if tool.SubjectUser != "" {
		body["subjectUser"] = tool.SubjectUser
	}
	if approval != 0 {
		body["approvalId"] = approval
	}
	tool.locate(body)
	asked := time.Now()
	if err := g.api.call(ctx, http.MethodPost, "/api/agent-evidence/policy/evaluate", newName(), body, &d); err != nil {
		return decision{}, fmt.Errorf("%s: %w: %w", tool.Name, ErrUnavailable, err)
	}
	d.until = asked.Add(d.ExpiresAt.Sub(d.CreatedAt))
	return d, nil
}

// approval is the state of an approval.
func (g *Guard) approval(ctx context.Context, id int64) (string, error) {
	var out struct {
		State string `json:"state"`
	}
	err := g.api.call(ctx, http.MethodGet, "/api/agent-evidence/approvals/"+strconv.FormatInt(id, 10), "", nil, &out)
	return out.State, err
}

// locate says where a call belongs.
func (t Tool) locate(body map[string]any) {
	if t.TraceID != "" {
		body["traceId"] = t.TraceID
	}
	if t.SpanID != "" {
		body["spanId"] = t.SpanID
	}
}

// dispatch notes that an effect is about to be sent. Without the note nothing is sent. The
// ledger is asked not to note what must not be sent: nobody would ever verify it. The
// request has a name of its own, not that of the call: a second call is to be looked at, and
// not to get the answer of the first.
func (g *Guard) dispatch(ctx context.Context, tool Tool, d decision) (noted effect, err error) {
	target := tool.Target
	if target == (Target{}) {
		target = Target{System: tool.Connector, Type: "tool", ID: tool.Name}
	}
	body := map[string]any{
		"runtimeKey": g.cfg.Runtime, "connectorKey": tool.Connector, "operation": tool.Name, "sideEffectClass": d.SideEffectClass, "reversibility": d.Reversibility,
		"target": target, "effectKey": tool.Invocation, "invocationId": tool.Invocation, "policyDecisionId": d.ID, "state": "dispatched",
	}
	if d.ApprovalID != 0 {
		body["approvalId"] = d.ApprovalID
	}
	tool.locate(body)
	path := "/api/agent-evidence/side-effect-ledger?refuse=unauthorized"
	if !tool.Idempotent {
		path += "&refuse=repeated"
	}
	name := newName()
	if err := g.api.call(ctx, http.MethodPost, path, name, body, &noted); err != nil {
		why := undispatched(err)
		if errors.Is(why, ErrUnavailable) {
			err = errors.Join(err, g.withdraw(context.WithoutCancel(ctx), path, name, body))
		}
		return effect{}, fmt.Errorf("%s: %w: %w", tool.Name, why, err)
	}
	return noted, nil
}

// withdraw notes that an effect is not sent whose dispatch may have been noted, although no
// answer came: it would look as if it may have happened.
func (g *Guard) withdraw(ctx context.Context, path, name string, body any) error {
	var noted effect
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	if _, err := g.api.once(ctx, http.MethodPost, path, name, text, &noted); err != nil {
		return nil //nolint:nilerr // the caller has an error, and there is nothing to withdraw that is known
	}
	return g.abandon(ctx, noted.ID)
}

// abandon notes that an effect was not sent.
func (g *Guard) abandon(ctx context.Context, effect int64) error {
	if err := g.move(ctx, effect, "failed", nil); err != nil {
		return fmt.Errorf("side effect %d was not sent, but the ledger says it was: %s", effect, err.Error())
	}
	return nil
}

// undispatched is why an effect was not noted.
func undispatched(err error) error {
	var r *refusal
	if errors.As(err, &r) {
		switch r.reason {
		case "side_effect_unauthorized":
			return ErrDenied
		case "side_effect_repeated":
			return ErrRepeated
		}
	}
	return ErrUnavailable
}

// move notes what has become of an effect.
func (g *Guard) move(ctx context.Context, effect int64, state string, v *verification) error {
	body := map[string]any{"state": state}
	if v != nil {
		body["verification"] = v
	}
	err := g.api.call(ctx, http.MethodPatch, "/api/agent-evidence/side-effect-ledger/"+strconv.FormatInt(effect, 10), newName(), body, nil)
	if err != nil {
		return fmt.Errorf("side effect %d is %s: %w: %w", effect, state, ErrUnrecorded, err)
	}
	return nil
}

// api calls the platform.
type api struct {
	url, key string
	http     *http.Client
	timeout  time.Duration
}

// maxAnswer is more than any answer has.
const maxAnswer = 4 << 20

// call makes a request, and repeats it under the same key while the platform does not
// answer and there is time.
func (a api) call(ctx context.Context, method, path, key string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	pause := 100 * time.Millisecond
	for {
		again, err := a.once(ctx, method, path, key, text, out)
		if err == nil || !again {
			return err
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, 2*time.Second)
		case <-ctx.Done():
			return err
		}
	}
}

// once makes a request, and reports whether it may be repeated.
func (a api) once(ctx context.Context, method, path, key string, body []byte, out any) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(a.url, "/")+path, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := a.http.Do(req)
	if err != nil {
		return true, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return true, err
	}
	code := res.StatusCode
	switch {
	case code >= 300:
		reason := reasonOf(text)
		again = code >= 500 || code == http.StatusTooManyRequests || reason == "idempotency_in_progress"
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
		if !again {
			err = &refusal{err, reason}
		}
		return again, err
	case out == nil:
		return false, nil
	}
	return false, json.Unmarshal(text, out)
}

// reasonOf is the reason that an answer gives for an error.
func reasonOf(text []byte) string {
	var answer struct {
		Error struct {
			Details struct {
				Reason string `json:"reason"`
			} `json:"details"`
		} `json:"error"`
	}
	_ = json.Unmarshal(text, &answer) // an answer of something else gives none
	return answer.Error.Details.Reason
}

// refusal is an answer that is the same however often one asks.
type refusal struct {
	error
	reason string
}

func (r *refusal) Unwrap() error { return r.error }
