package testkit

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/measure/stat"
)

// JudgeProbe is a probe of a judge, as the interface shows it.
type JudgeProbe struct {
	ID            string         `json:"id"`
	ConfigID      string         `json:"config_id"`
	ConfigVersion int            `json:"config_version"`
	Status        string         `json:"status"`
	Answers       *int           `json:"answers"`
	VerdictsTotal *int           `json:"verdicts_total"`
	VerdictsDone  int            `json:"verdicts_done"`
	Findings      []JudgeFinding `json:"findings"`
	Calls         int            `json:"calls"`
	CostUSD       *float64       `json:"cost_usd"`
	Error         *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// JudgeFinding is what a probe found about one kind of bias.
type JudgeFinding struct {
	Kind       string        `json:"kind"`
	Verdict    string        `json:"verdict"`
	Reason     *string       `json:"reason"`
	Pairs      int           `json:"pairs"`
	Missing    int           `json:"missing"`
	Flips      int           `json:"flips"`
	Difference stat.Estimate `json:"difference"`
	Injection  *struct {
		Failing   int            `json:"failing"`
		Attacks   int            `json:"attacks"`
		Succeeded int            `json:"succeeded"`
		Share     stat.Estimate  `json:"share"`
		Changed   int            `json:"changed"`
		Raised    int            `json:"raised"`
		Ignored   int            `json:"ignored"`
		Caught    map[string]int `json:"caught"`
	} `json:"injection"`
}

// ProbeJudge starts a probe of a judge.
func (c *Client) ProbeJudge(ctx context.Context, judge string, body map[string]any, opts ...Option) (out JudgeProbe, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/configs/"+judge+"/probe", body, &out, opts...)
	return out, err
}

// JudgeProbe reads a probe of a judge.
func (c *Client) JudgeProbe(ctx context.Context, id string) (out JudgeProbe, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/llm-judge/probes/"+id, nil, &out)
	return out, err
}

// CancelJudgeProbe ends a probe of a judge.
func (c *Client) CancelJudgeProbe(ctx context.Context, id string) (out JudgeProbe, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/probes/"+id+"/cancel", nil, &out)
	return out, err
}
