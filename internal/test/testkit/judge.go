package testkit

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/measure/stat"
)

// JudgeConfig is a judge as the interface shows it.
type JudgeConfig struct {
	ID            string  `json:"id"`
	Key           string  `json:"key"`
	Name          string  `json:"name"`
	Status        string  `json:"status"`
	ConfigVersion int     `json:"config_version"`
	Digest        string  `json:"digest"`
	PassThreshold float64 `json:"pass_threshold"`
	Version       int64   `json:"version"`
}

// JudgeResult is what a judge said, as the interface shows it.
type JudgeResult struct {
	ID            string   `json:"id"`
	ConfigID      string   `json:"config_id"`
	ConfigVersion int      `json:"config_version"`
	Status        string   `json:"status"`
	Score         *float64 `json:"score"`
	RawScore      *float64 `json:"raw_score"`
	Label         *string  `json:"label"`
	Passed        *bool    `json:"passed"`
	Reasoning     *string  `json:"reasoning"`
	Agreement     *float64 `json:"agreement"`
	Opinions      int      `json:"opinions"`
	TestCaseID    *string  `json:"test_case_id"`
	Epoch         *int     `json:"epoch"`
	TraceID       *string  `json:"trace_id"`
	Model         *string  `json:"model"`
	Error         *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	CostUSD *float64 `json:"cost_usd"`
}

// CreateJudge makes a judge.
func (c *Client) CreateJudge(ctx context.Context, body map[string]any, opts ...Option) (out JudgeConfig, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/configs", body, &out, opts...)
	return out, err
}

// UpdateJudge changes a judge.
func (c *Client) UpdateJudge(ctx context.Context, id string, patch map[string]any, opts ...Option) (out JudgeConfig, err error) {
	_, err = c.Call(ctx, http.MethodPatch, "/api/llm-judge/configs/"+id, patch, &out, opts...)
	return out, err
}

// Judge has a judge assess an answer.
func (c *Client) Judge(ctx context.Context, body map[string]any, opts ...Option) (out JudgeResult, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/evaluate", body, &out, opts...)
	return out, err
}

// JudgeResults lists what judges said.
func (c *Client) JudgeResults(ctx context.Context, query string) ([]JudgeResult, error) {
	var out struct {
		Results []JudgeResult `json:"results"`
	}
	_, err := c.Call(ctx, http.MethodGet, "/api/llm-judge/results"+query, nil, &out)
	return out.Results, err
}

// JudgeAlignment is how well a judge agrees with people, as the interface shows it.
type JudgeAlignment struct {
	ConfigID      string   `json:"config_id"`
	ConfigVersion int      `json:"config_version"`
	N             int      `json:"n"`
	Judged        int      `json:"judged"`
	TPR           *float64 `json:"tpr"`
	TNR           *float64 `json:"tnr"`
	CohenKappa    *float64 `json:"cohen_kappa"`
	Verdict       string   `json:"verdict"`
	MoreLabels    *int     `json:"more_labels"`
	Confusion     struct {
		TP int `json:"tp"`
		FP int `json:"fp"`
		TN int `json:"tn"`
		FN int `json:"fn"`
	} `json:"confusion"`
	Disagreements []struct {
		TestCaseID *string `json:"test_case_id"`
		Judge      string  `json:"judge"`
		Human      string  `json:"human"`
	} `json:"disagreements"`
	Statistics struct {
		PassRate CorrectedMean `json:"corrected_pass_rate"`
	} `json:"statistics"`
}

// CorrectedMean is a judge's mean with what people make of it.
type CorrectedMean struct {
	Estimator string        `json:"estimator"`
	Labels    int           `json:"labels"`
	Headline  stat.Estimate `json:"headline"`
	Judge     stat.Estimate `json:"judge"`
	Human     stat.Estimate `json:"human"`
}

// JudgeAlignments measures judges.
func (c *Client) JudgeAlignments(ctx context.Context, query string) ([]JudgeAlignment, error) {
	var out struct {
		Alignments []JudgeAlignment `json:"alignments"`
	}
	_, err := c.Call(ctx, http.MethodGet, "/api/llm-judge/alignment"+query, nil, &out)
	return out.Alignments, err
}

// NextLabels is what is to be labelled next.
type NextLabels struct {
	LabelKey string   `json:"label_key"`
	Labels   []string `json:"labels"`
	Labelled int      `json:"labelled"`
	Left     int      `json:"left"`
	Next     []struct {
		TestCaseID string `json:"test_case_id"`
		DatasetID  string `json:"dataset_id"`
	} `json:"next"`
}

// NextLabels reads what is to be labelled next.
func (c *Client) NextLabels(ctx context.Context, judge, query string) (out NextLabels, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/llm-judge/configs/"+judge+"/next-labels"+query, nil, &out)
	return out, err
}

// JudgeWatch is the watch of a judge, as the interface shows it.
type JudgeWatch struct {
	ID            string   `json:"id"`
	ConfigVersion int      `json:"config_version"`
	Status        string   `json:"status"`
	Problem       *string  `json:"problem"`
	Anchors       int      `json:"anchors"`
	FlipLimit     *float64 `json:"flip_limit"`
	Checks        int      `json:"checks"`
}

// JudgeCheck is what a watch found, as the interface shows it.
type JudgeCheck struct {
	Verdict     string  `json:"verdict"`
	Problem     *string `json:"problem"`
	Anchors     int     `json:"anchors"`
	PassToFail  int     `json:"pass_to_fail"`
	FailToPass  int     `json:"fail_to_pass"`
	Correctness *struct {
		Difference stat.Estimate `json:"difference"`
	} `json:"correctness"`
	Flips []struct {
		DatasetItemID string `json:"dataset_item_id"`
	} `json:"flips"`
}

// WatchJudge starts to watch a judge.
func (c *Client) WatchJudge(ctx context.Context, judge string, body map[string]any) (out JudgeWatch, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/configs/"+judge+"/watches", body, &out)
	return out, err
}

// JudgeWatch reads a watch.
func (c *Client) JudgeWatch(ctx context.Context, id string) (out JudgeWatch, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/llm-judge/watches/"+id, nil, &out)
	return out, err
}

// JudgeChecks lists what a watch found, newest first.
func (c *Client) JudgeChecks(ctx context.Context, watch string) ([]JudgeCheck, error) {
	var out struct {
		Checks []JudgeCheck `json:"checks"`
	}
	_, err := c.Call(ctx, http.MethodGet, "/api/llm-judge/watches/"+watch+"/checks", nil, &out)
	return out.Checks, err
}
