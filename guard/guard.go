package guard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"
)

// Why an action was not taken, or what is not known about it.
var (
	// ErrDenied is what Do's error wraps if the action is not allowed.
	ErrDenied = errors.New("denied by policy")
	// ErrApproval is what Do's error, an ApprovalError, wraps if the action waits for an approval.
	ErrApproval = errors.New("waits for an approval")
	// ErrUnavailable is what Do's error wraps if it got no decision, could not record the side
	// effect, or the decision expired before the call. The tool was not called.
	ErrUnavailable = errors.New("no decision, or the effect could not be recorded")
	// ErrRepeated is what Do's error wraps if the call may already have been sent under the
	// same Invocation.
	ErrRepeated = errors.New("sent before")
	// ErrNotApplied is what a tool wraps to say that it is sure to have done nothing.
	// After any other error it is unknown whether it did.
	ErrNotApplied = errors.New("not applied")
	// ErrUnrecorded is what Do's error wraps if the tool was called but the outcome could not
	// be recorded.
	ErrUnrecorded = errors.New("the outcome is not recorded")
)

// ApprovalError says which approval an action waits for. Once somebody has agreed, call Do
// with it as Tool.Approval.
type ApprovalError struct {
	Tool     string
	Approval int64
	// Why are the reasons of the policies.
	Why string
}

func (e *ApprovalError) Error() string {
	return fmt.Sprintf("%s: %v: approval %d, %s", e.Tool, ErrApproval, e.Approval, e.Why)
}

// Unwrap is ErrApproval.
func (e *ApprovalError) Unwrap() error { return ErrApproval }

// Config says where to ask, and for whom.
type Config struct {
	// URL and Key default to ASSAY_URL and SERVICE_API_KEY.
	URL, Key string
	// Runtime is the key of the agent.
	Runtime string
	// Timeout bounds each question and each note, with its repetitions; 10 seconds by
	// default.
	Timeout time.Duration
	// ApprovalWait is how long to wait for a person; 0 returns ErrApproval at once.
	ApprovalWait time.Duration
	// Supported lists further obligations that the tools honour themselves. The guard honours
	// record_side_effect and require_idempotency_key, and verify_side_effect for tools with
	// Verify. An action with any other obligation is denied.
	Supported []string
	HTTP      *http.Client
}

// Guard asks for one agent.
type Guard struct {
	cfg Config
	api api
}

// DefaultURL is where Assay listens on this machine.
const DefaultURL = "http://localhost:4318"

// The guard looks whether a person has decided: at first every second, and then ever more
// rarely, because its requests count toward the limit of its key.
const (
	firstPoll = time.Second
	lastPoll  = 15 * time.Second
)

// New makes a guard.
func New(cfg Config) *Guard {
	or := func(value, name, otherwise string) string {
		if value == "" {
			value = os.Getenv(name)
		}
		if value == "" {
			value = otherwise
		}
		return value
	}
	cfg.URL, cfg.Key = or(cfg.URL, "ASSAY_URL", DefaultURL), or(cfg.Key, "SERVICE_API_KEY", "")
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Second
	}
	if cfg.HTTP == nil {
		cfg.HTTP = http.DefaultClient
	}
	return &Guard{cfg: cfg, api: api{url: cfg.URL, key: cfg.Key, http: cfg.HTTP, timeout: cfg.Timeout}}
}

// Tool is what is called.
type Tool struct {
	Connector, Name string
	// Target is what the call changes; by default the tool itself.
	Target Target
	// Approval is one that somebody has given for this very action; 0 if there is none.
	Approval int64
	// Invocation names the call; by default a random name. The same call under the same
	// name is one effect: it is not sent again unless the first is known to have done nothing,
	// or the tool is Idempotent.
	Invocation string
	// Idempotent says that the external system recognizes a repetition by the key.
	Idempotent bool
	// TraceID and SpanID are where the call belongs, in hexadecimal digits. The metric
	// effects_verified of an answer counts the effects of its trace.
	TraceID, SpanID string
	// SubjectUser is the person for whom the agent acts.
	SubjectUser string
	// Context are circumstances that policies can read.
	Context map[string]any
	// Verify reads the target and reports what became of the effect. Its context ends after
	// Config.Timeout. Without Verify, the effect stays acknowledged, and an action with the
	// obligation verify_side_effect is denied unless Config.Supported lists it.
	Verify func(ctx context.Context, key string) (Finding, error)
}

// Target is what an effect changes.
type Target struct {
	System string `json:"system"`
	Type   string `json:"type"`
	ID     string `json:"id"`
}

// Finding is what a look at the target shows.
type Finding string

// The findings.
const (
	Confirmed Finding = "confirmed"
	Absent    Finding = "absent"
	Different Finding = "different"
)

// Do takes an action if it is allowed. Call is the tool, and gets the key that the external
// system recognizes a repetition by.
func Do[T any](ctx context.Context, g *Guard, tool Tool, args any, call func(ctx context.Context, key string) (T, error)) (T, error) {
	var zero T
	if tool.Invocation == "" {
		tool.Invocation = newName()
	}
	d, err := g.ask(ctx, tool, args)
	if err != nil {
		return zero, err
	}
	if d.harmless() && !d.obliges("record_side_effect") && !d.obliges("verify_side_effect") {
		return call(ctx, tool.Invocation)
	}
	noted, err := g.dispatch(ctx, tool, d)
	if err != nil {
		return zero, err
	}
	effect := noted.ID
	if err := cleared(tool, d, noted); err != nil {
		return zero, errors.Join(err, g.abandon(ctx, effect))
	}
	out, err := call(ctx, tool.Invocation)
	// The effect may have happened: what became of it is noted even if the caller has
	// given up.
	after := context.WithoutCancel(ctx)
	switch {
	case errors.Is(err, ErrNotApplied):
		return out, errors.Join(err, g.move(after, effect, "failed", nil))
	case err != nil:
		return out, errors.Join(err, g.move(after, effect, "unknown", nil), g.verify(after, tool, effect))
	}
	if err := g.move(after, effect, "acknowledged", nil); err != nil {
		return out, err
	}
	return out, g.verify(after, tool, effect)
}

// ask returns a decision that allows the action, after a person has agreed if one has to.
func (g *Guard) ask(ctx context.Context, tool Tool, args any) (decision, error) {
	d, err := g.evaluate(ctx, tool, args, tool.Approval)
	if err != nil {
		return decision{}, err
	}
	if d.Decision == "require_approval" {
		if err := g.wait(ctx, tool, d); err != nil {
			return decision{}, err
		}
		if d, err = g.evaluate(ctx, tool, args, d.ApprovalID); err != nil {
			return decision{}, err
		}
		if d.Decision == "require_approval" { // the person agreed to less, or too late
			return decision{}, &ApprovalError{Tool: tool.Name, Approval: d.ApprovalID, Why: d.why()}
		}
	}
	if d.Decision != "allow" || !d.Allowed {
		return decision{}, fmt.Errorf("%s: %w: %s", tool.Name, ErrDenied, d.why())
	}
	for _, o := range d.Obligations {
		if !slices.Contains(g.supported(tool), o.Type) {
			return decision{}, fmt.Errorf("%s: %w: the obligation %s cannot be honoured", tool.Name, ErrDenied, o.Type)
		}
	}
	return d, nil
}

// cleared refuses an effect that was noted and that must not be sent, also if the platform
// is too old to refuse it.
func cleared(tool Tool, d decision, noted effect) error {
	if !d.harmless() && noted.Authorization != "allowed" {
		return fmt.Errorf("%s: %w: the authorization of side effect %d is %q", tool.Name, ErrDenied, noted.ID, noted.Authorization)
	}
	if noted.DuplicateOfID != 0 && !tool.Idempotent {
		return fmt.Errorf("%s: %w: see side effect %d", tool.Name, ErrRepeated, noted.DuplicateOfID)
	}
	if !time.Now().Before(d.until) {
		return fmt.Errorf("%s: %w: the decision has expired", tool.Name, ErrUnavailable)
	}
	return nil
}

// supported are the obligations that are honoured for a tool.
func (g *Guard) supported(tool Tool) []string {
	all := append([]string{"record_side_effect", "require_idempotency_key"}, g.cfg.Supported...)
	if tool.Verify != nil {
		all = append(all, "verify_side_effect")
	}
	return all
}

// wait waits until a person has agreed.
func (g *Guard) wait(ctx context.Context, tool Tool, d decision) error {
	var waiting error = &ApprovalError{Tool: tool.Name, Approval: d.ApprovalID, Why: d.why()}
	if g.cfg.ApprovalWait <= 0 || d.ApprovalID == 0 {
		return waiting
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.ApprovalWait)
	defer cancel()
	for pause := firstPoll; ; pause = min(pause*5/4, lastPoll) {
		state, err := g.approval(ctx, d.ApprovalID)
		var refused *refusal
		switch {
		case err == nil && state == "approved":
			return nil
		case err == nil && state != "pending":
			return fmt.Errorf("%s: %w: the approval is %s", tool.Name, ErrDenied, state)
		case errors.As(err, &refused):
			return fmt.Errorf("%w; its state cannot be read: %w", waiting, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(waiting, ctx.Err(), err)
		}
	}
}

// verify checks what became of an effect, and notes it.
func (g *Guard) verify(ctx context.Context, tool Tool, effect int64) error {
	if tool.Verify == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	found, err := tool.Verify(ctx, tool.Invocation)
	if err != nil {
		return fmt.Errorf("verify %s: %w", tool.Name, err)
	}
	state := map[Finding]string{Confirmed: "verified", Absent: "not_applied", Different: "conflicting"}[found]
	if state == "" {
		return fmt.Errorf("verify %s: %q is not a finding", tool.Name, found)
	}
	return g.move(context.WithoutCancel(ctx), effect, state, &verification{Method: "readback", Result: string(found), ObservedAt: time.Now().UTC()})
}

func newName() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return "call_" + hex.EncodeToString(b[:])
}
