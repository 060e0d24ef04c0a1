package provider

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/platform/llm"
)

// Bounds of what is kept of answers.
const (
	maxCached    = 64 << 20  // bytes of one organization
	maxCachedOne = 256 << 10 // of one answer
)

// cached is an answer that may be used again.
type cached struct {
	Text      string         `json:"text"`
	ToolCalls []llm.ToolCall `json:"tool_calls,omitempty"`
	ReplyID   string         `json:"reply_id"`
	Model     string         `json:"model"`
	Finish    llm.Finish     `json:"finish"`
}

// digest names a question: the key and its address, the model, the params and every
// word. The organization is beside it in the table, so that no answer is another's.
func (m *Model) digest(q Question, params llm.Params) ([]byte, bool) {
	if m.config.CacheFor <= 0 {
		return nil, false
	}
	text, err := json.Marshal(struct {
		Format   int
		Key      int64
		Provider string
		BaseURL  string
		Model    string
		System   string
		Messages []llm.Message
		Tools    []llm.Tool
		Params   llm.Params
		Salt     string
	}{1, m.config.KeyID, m.to.Provider, m.to.BaseURL, m.config.Model, q.System, q.Messages, q.Tools, params, q.CacheSalt}, json.Deterministic(true))
	if err != nil {
		return nil, false // a schema that is not JSON, or text that is not UTF-8
	}
	sum := sha256.Sum256(text)
	return sum[:], true
}

// recall finds the answer of an earlier call. It took nothing: calls, usage and cost
// are zero. A cache that cannot be read has nothing.
func (m *Model) recall(ctx context.Context, q Question, params llm.Params) (said, bool) {
	digest, ok := m.digest(q, params)
	if !ok {
		return said{}, false
	}
	s := m.spending.service
	text, ok, err := s.store.answer(ctx, m.spending.org, digest, s.clock())
	if err != nil {
		slog.WarnContext(ctx, "answers are not read again", "error", err)
	}
	var c cached
	if !ok || json.Unmarshal(text, &c) != nil {
		return said{}, false
	}
	took, free := time.Duration(0), uint64(0)
	a := said{Answer: Answer{Trace: q.Trace, Took: &took, CostNanoUSD: &free, ReplyID: c.ReplyID, Model: c.Model, FromCache: true}, text: c.Text, finish: c.Finish}
	return a, a.keep(llm.Reply{Text: c.Text, ToolCalls: c.ToolCalls}) == nil
}

// remember keeps an answer that ended as it should. What cannot be kept is asked
// for again.
func (m *Model) remember(ctx context.Context, q Question, params llm.Params, a said) {
	digest, ok := m.digest(q, params)
	if !ok || a.finish != llm.FinishStop && a.finish != llm.FinishTools {
		return
	}
	c := cached{Text: a.text, ReplyID: a.ReplyID, Model: a.Model, Finish: a.finish}
	for _, t := range a.Tools {
		c.ToolCalls = append(c.ToolCalls, llm.ToolCall{Name: t.Name, Arguments: t.Arguments})
	}
	text, err := json.Marshal(c)
	if err != nil || len(text) > maxCachedOne {
		return
	}
	s := m.spending.service
	if err := s.store.putAnswer(ctx, m.spending.org, digest, jsontext.Value(text), s.clock(), m.config.CacheFor); err != nil {
		slog.WarnContext(ctx, "an answer is not kept", "error", err)
	}
}

// SweepAnswers forgets kept answers that have expired, and the oldest ones of
// organizations that have more than their share.
func (s *Service) SweepAnswers(ctx context.Context) (int64, error) {
	return s.store.sweepAnswers(ctx, s.clock(), maxCached)
}
