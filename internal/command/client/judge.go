package client

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/command/client/api"
)

// FindJudge returns the judge with this id or key. The name of its metric is taken
// for its key.
func (c *Client) FindJudge(ctx context.Context, name string) (api.JudgeConfig, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "judge:")
	if number.MatchString(name) {
		j, err := c.call().GetJudgeConfig(ctx, name)
		if !notFound(err) {
			return j, err
		}
	}
	list, err := c.call().ListJudgeConfigs(ctx, url.Values{"key": {name}})
	if err != nil {
		return api.JudgeConfig{}, err
	}
	if len(list.Configs) == 1 && list.Configs[0].Key == name {
		return list.Configs[0], nil
	}
	if list, err = c.call().ListJudgeConfigs(ctx, url.Values{"limit": {"1000"}}); err != nil {
		return api.JudgeConfig{}, err
	}
	alike := slices.DeleteFunc(list.Configs, func(j api.JudgeConfig) bool {
		return name == "" || !strings.Contains(j.Key, strings.ToLower(name)) && !strings.Contains(name, j.Key)
	})
	return only("judge", name, alike, func(j api.JudgeConfig) (string, string) { return j.ID, j.Key })
}

// LastJudgedRun is the run whose answers a judge scored last; empty if there is none.
func (c *Client) LastJudgedRun(ctx context.Context, judge string) (string, error) {
	list, err := c.call().ListJudgeResults(ctx, url.Values{"configId": {judge}, "limit": {"100"}})
	for _, r := range list.Results {
		if r.EvaluationRunID != nil {
			return *r.EvaluationRunID, err
		}
	}
	return "", err
}

// AlignmentReport returns the alignment of the judge that a query names, as a web
// page that needs nothing else.
func (c *Client) AlignmentReport(ctx context.Context, q url.Values) ([]byte, error) {
	q = maps.Clone(q)
	id := q.Get("configId")
	q.Del("configId")
	return c.download(ctx, "/api/llm-judge/configs/"+url.PathEscape(id)+"/alignment/report?"+q.Encode())
}
