package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// action is one that was allowed, for policies that look back.
type action struct {
	decision               int64
	actor, connector, tool string
	numbers                jsontext.Value
	at                     time.Time
}

// keepActions is how long actions are remembered: a little longer than policies look back.
const keepActions = engine.MaxWindow + time.Hour

// SweepActions forgets actions that no policy can ask about any more, and returns how many.
func (s *Service) SweepActions(ctx context.Context) (int64, error) {
	return s.store.sweepActions(ctx, s.now().Add(-keepActions))
}

// actorOf names the one whose past counts.
func actorOf(q *engine.Question) string {
	if q.RuntimeKey != "" {
		return "runtime/" + q.RuntimeKey
	}
	subject, _, _ := q.Entities()
	return "subject/" + subject.Type + "/" + subject.ID
}

// recordedActor is the actor as it can be stored. Of those that look the same then, a mark
// keeps most apart, and is too short to find out who they are.
func recordedActor(q *engine.Question, clean evidence.Cleaner) string {
	actor := actorOf(q)
	stored := clean.Text(actor)
	if stored != actor {
		sum := sha256.Sum256([]byte(actor))
		stored += "#" + hex.EncodeToString(sum[:2])
	}
	return short(stored)
}

// longActor is how long the name of an actor is in the index of actions, in bytes.
const longActor = 256

// short is a name that the index of actions can hold.
func short(actor string) string {
	if len(actor) <= longActor {
		return actor
	}
	sum := sha256.Sum256([]byte(actor))
	digest := "#" + hex.EncodeToString(sum[:])
	return strings.ToValidUTF8(actor[:longActor-len(digest)], "") + digest
}

// remembered is the action of a question that was allowed, as it can be stored.
func (a *asked) remembered(decision int64, at time.Time) action {
	const invocation = "tool_invocation" // as input has it
	arguments := a.stored.Within(invocation)[kind.FieldArguments]
	connector, tool := a.question.ConnectorKey, a.question.ToolName
	if c, t, ok := engine.SplitTool(connector + "/" + tool); ok {
		connector, tool = c, t // as facts name it
	}
	return action{decision, a.actor, a.clean.Text(connector), a.clean.Text(tool), numbers(arguments), at}
}

const (
	// longNumber is how many digits an argument may have before the point that a sum counts:
	// what is longer is the number of an account or a card, not an amount.
	longNumber = 12
	// maxNumbers bounds the arguments that are remembered, and longName their names.
	maxNumbers = 64
	longName   = 64
	// unnamed stands for arguments that are not remembered.
	unnamed = ""
)

// numbers are the arguments as sums count them. One that a sum cannot hold is null, so that
// the sum is not known: one that left it out would allow too much.
func numbers(arguments jsontext.Value) jsontext.Value {
	var all map[string]jsontext.Value
	if len(arguments) == 0 || json.Unmarshal(arguments, &all) != nil {
		return jsontext.Value("{}")
	}
	null := jsontext.Value("null")
	out := kind.Values{}
	for name, value := range all {
		if name == unnamed || len(name) > longName || len(all) > maxNumbers {
			out[unnamed] = null
			continue
		}
		out[name] = null
		if text, ok := summand(value); ok {
			out[name] = kind.TextValue(text)
		}
	}
	return out.JSON()
}

// summand is a value as a number that sums count.
func summand(value jsontext.Value) (string, bool) {
	text := string(value)
	if value.Kind() == '"' {
		text = kind.Values{unnamed: value}.Text(unnamed)
		if strings.ContainsAny(text, "eE") { // policies do not read it as a number either
			return "", false
		}
	}
	whole, _, _ := strings.Cut(text, ".")
	if len(whole) > longNumber || len(text) > 2*longNumber || strings.HasPrefix(text, "-") {
		return "", false
	}
	return engine.Decimal(text)
}
