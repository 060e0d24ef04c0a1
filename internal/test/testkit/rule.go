package testkit

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

// RuleReason is how many traces there are for a reason.
type RuleReason struct {
	Reason string `json:"reason"`
	Traces int    `json:"traces"`
}

// RuleCounts is what became of the traces of a rule or a back-fill.
type RuleCounts struct {
	Judged    int          `json:"judged"`
	Abstained int          `json:"abstained"`
	Failed    int          `json:"failed"`
	FailedBy  []RuleReason `json:"failed_by"`
	Skipped   int          `json:"skipped"`
	SkippedBy []RuleReason `json:"skipped_by"`
	SpentUSD  float64      `json:"spent_usd"`
}

// RuleBlocked is why a judge could not be asked.
type RuleBlocked struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// JudgeRule is a rule as the interface shows it.
type JudgeRule struct {
	ID          string       `json:"id"`
	Key         string       `json:"key"`
	Name        string       `json:"name"`
	ConfigID    string       `json:"config_id"`
	SampleRate  float64      `json:"sample_rate"`
	SamplingKey string       `json:"sampling_key"`
	Status      string       `json:"status"`
	SpendCapUSD *float64     `json:"spend_cap_usd"`
	CapPeriod   string       `json:"cap_period"`
	Counts      RuleCounts   `json:"counts"`
	Blocked     *RuleBlocked `json:"blocked"`
	Version     int          `json:"version"`
}

// JudgeBackfill is a back-fill as the interface shows it.
type JudgeBackfill struct {
	ID            string       `json:"id"`
	RuleID        string       `json:"rule_id"`
	ConfigVersion int          `json:"config_version"`
	SampleRate    float64      `json:"sample_rate"`
	Status        string       `json:"status"`
	Reason        *RuleBlocked `json:"reason"`
	Total         *int         `json:"total"`
	Matched       int          `json:"matched"`
	Sampled       int          `json:"sampled"`
	Remaining     *int         `json:"remaining"`
	Counts        RuleCounts   `json:"counts"`
}

// RulePreview is what a rule would have to do and cost.
type RulePreview struct {
	Days         []int         `json:"days"`
	TracesPerDay stat.Estimate `json:"traces_per_day"`
	Sampled      stat.Estimate `json:"sampled_per_day"`
	Verdict      stat.Estimate `json:"cost_per_verdict_usd"`
	Cost         struct {
		Value  *float64 `json:"value"`
		Lower  *float64 `json:"lower"`
		Upper  *float64 `json:"upper"`
		Level  *float64 `json:"level"`
		Reason *string  `json:"reason"`
	} `json:"cost_per_day_usd"`
}

const rules = "/api/llm-judge/rules"

// CreateRule makes a rule.
func (c *Client) CreateRule(ctx context.Context, body map[string]any, opts ...Option) (out JudgeRule, err error) {
	_, err = c.Call(ctx, http.MethodPost, rules, body, &out, opts...)
	return out, err
}

// GetRule reads a rule.
func (c *Client) GetRule(ctx context.Context, id string) (out JudgeRule, err error) {
	_, err = c.Call(ctx, http.MethodGet, rules+"/"+id, nil, &out)
	return out, err
}

// UpdateRule changes a rule.
func (c *Client) UpdateRule(ctx context.Context, id string, patch map[string]any, opts ...Option) (out JudgeRule, err error) {
	_, err = c.Call(ctx, http.MethodPatch, rules+"/"+id, patch, &out, opts...)
	return out, err
}

// DeleteRule deletes a rule.
func (c *Client) DeleteRule(ctx context.Context, id string) error {
	_, err := c.Call(ctx, http.MethodDelete, rules+"/"+id, nil, nil)
	return err
}

// Rules lists rules.
func (c *Client) Rules(ctx context.Context, query string) ([]JudgeRule, error) {
	var out struct {
		Rules []JudgeRule `json:"rules"`
	}
	_, err := c.Call(ctx, http.MethodGet, rules+query, nil, &out)
	return out.Rules, err
}

// PreviewRule estimates what a rule would cost.
func (c *Client) PreviewRule(ctx context.Context, body map[string]any) (out RulePreview, err error) {
	_, err = c.Call(ctx, http.MethodPost, rules+"/preview", body, &out)
	return out, err
}

// StartBackfill starts a back-fill of a rule.
func (c *Client) StartBackfill(ctx context.Context, rule string, body map[string]any, opts ...Option) (out JudgeBackfill, err error) {
	_, err = c.Call(ctx, http.MethodPost, rules+"/"+rule+"/backfills", body, &out, opts...)
	return out, err
}

// GetBackfill reads a back-fill.
func (c *Client) GetBackfill(ctx context.Context, rule, id string) (out JudgeBackfill, err error) {
	_, err = c.Call(ctx, http.MethodGet, rules+"/"+rule+"/backfills/"+id, nil, &out)
	return out, err
}

// CancelBackfill cancels a back-fill.
func (c *Client) CancelBackfill(ctx context.Context, rule, id string) (out JudgeBackfill, err error) {
	_, err = c.Call(ctx, http.MethodPost, rules+"/"+rule+"/backfills/"+id+"/cancel", nil, &out)
	return out, err
}

// Filled waits until a back-fill has ended.
func (c *Client) Filled(t testing.TB, b JudgeBackfill) (out JudgeBackfill) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		out, err = c.GetBackfill(t.Context(), b.RuleID, b.ID)
		return err == nil && out.Status != "running"
	}, 10*time.Minute, 50*time.Millisecond)
	return out
}
