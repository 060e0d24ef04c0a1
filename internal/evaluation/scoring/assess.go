package scoring

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/platform/llm"
)

// Assess scores an outcome and decides whether it passed. An outcome without
// any score has errored. Given scores are those that others made. Pause is called
// before each metric, and an error of it ends the work.
func Assess(pause func() error, o *result.Outcome, rule PassRule, measures []Measure, c metric.Case, given map[string]metric.Score) error {
	scores := make([]metric.Score, len(measures))
	for i, m := range measures {
		if err := pause(); err != nil {
			return err
		}
		var ok bool
		if scores[i], ok = given[m.Name]; !ok {
			scores[i] = m.score(c)
		}
	}
	decide(o, rule, measures, scores)
	return nil
}

// score is what a metric says by a score that was sent.
func (s SentScore) score() metric.Score {
	return metric.Scored(s.Value, cmp.Or(s.Explanation, "Sent by the client."))
}

// sentScores are what metrics say by scores that were sent.
func sentScores(sent map[string]SentScore) map[string]metric.Score {
	all := make(map[string]metric.Score, len(sent))
	for name, s := range sent {
		all[name] = s.score()
	}
	return all
}

// decide records the scores of an outcome and what they amount to.
func decide(o *result.Outcome, rule PassRule, measures []Measure, scores []metric.Score) {
	scored, unfit := false, true
	for i, m := range measures {
		s := result.Score{Metric: m.Name, Reason: string(scores[i].Reason()), Explanation: scores[i].Explanation()}
		if v, ok := scores[i].Value(); ok {
			s.Value, scored = &v, true
		}
		unfit = unfit && scores[i].Reason().OfItem()
		o.Scores = append(o.Scores, s)
	}
	o.Overall = rule.overall(measures, scores)
	switch {
	case unfit:
		o.Status, o.ErrorCode, o.ErrorMessage = result.StatusErrored, result.CodeUnfit, "No answer to the item can be scored: see the reasons of its metrics."
	case !scored:
		o.Status, o.ErrorCode, o.ErrorMessage = result.StatusErrored, result.CodeNoScore, "No metric could be computed for the item."
	case rule.passes(measures, scores):
		o.Status = result.StatusPassed
	default:
		o.Status = result.StatusFailed
	}
}

// stored is a score of an outcome as its metric said it.
func stored(s result.Score) metric.Score {
	if s.Value == nil {
		return metric.Missing(metric.Reason(s.Reason), s.Explanation)
	}
	return metric.Scored(*s.Value, s.Explanation)
}

// Reassess scores an outcome of which more is known than when it was scored, and
// decides anew. Scores that it has stay; those that are missing are computed, unless
// they are given or nobody can compute them again. Effects are nil if they are not known.
func Reassess(pause func() error, o *result.Outcome, rule PassRule, measures []Measure, item dataset.Item, effects *metric.Effects, given map[string]metric.Score) error {
	service := map[string]bool{}
	for _, m := range measures {
		service[m.Name] = m.service
	}
	all := make(map[string]metric.Score, len(measures))
	for _, s := range o.Scores {
		if add, ok := given[s.Metric]; ok && s.Value == nil {
			all[s.Metric] = add
		} else if s.Value != nil || service[s.Metric] {
			all[s.Metric] = stored(s)
		}
	}
	c := CaseOf(item, AnswerOf(o))
	c.Effects = effects
	o.Scores, o.Overall, o.ErrorCode, o.ErrorMessage = nil, nil, "", ""
	return Assess(pause, o, rule, measures, c, all)
}

// AnswerOf is the answer that an outcome is of, as far as it is stored.
func AnswerOf(o *result.Outcome) provider.Answer {
	a := provider.Answer{
		Output: o.Output, ToolsJSON: o.ToolCalls, Took: o.Duration, CostNanoUSD: o.CostNanoUSD, Usage: llm.Usage{Input: o.InputTokens, Output: o.OutputTokens},
		Calls: o.Calls, Trace: o.Trace,
	}
	if o.ToolCalls.Kind() == '[' {
		a.Tools = provider.ToolCalls(o.ToolCalls)
	}
	return a
}

// Rescore adds scores that were sent to those that an outcome has, and decides anew.
// It reports false, and changes nothing, if the outcome has no answer that a score
// could be about.
func Rescore(o *result.Outcome, rule PassRule, measures []Measure, sent map[string]SentScore) bool {
	if len(o.Scores) == 0 || o.Status == result.StatusSkipped || o.Status == result.StatusErrored && o.ErrorCode != result.CodeUnfit && o.ErrorCode != result.CodeNoScore {
		return false
	}
	all := make(map[string]metric.Score, len(o.Scores))
	for _, s := range o.Scores {
		all[s.Metric] = stored(s)
	}
	maps.Copy(all, sentScores(sent))
	o.Scores, o.ErrorCode, o.ErrorMessage = nil, "", ""
	scores := make([]metric.Score, len(measures))
	for i, m := range measures {
		scores[i] = all[m.Name]
	}
	decide(o, rule, measures, scores)
	return true
}

// CaseOf is what metrics see of an item and its answer.
func CaseOf(i dataset.Item, a provider.Answer) metric.Case {
	c := metric.Case{
		Input: i.Content.Input, ExpectedOutput: i.Content.ExpectedOutput, Output: a.Output, Context: i.Content.Context,
		Messages: i.Content.Messages, Tools: i.Content.Tools, Assertions: i.Content.Assertions, Labels: i.Content.Labels,
		ToolCalls: a.Tools, Duration: a.Took,
	}
	if a.CostNanoUSD != nil {
		usd := float64(*a.CostNanoUSD) / 1e9
		c.CostUSD = &usd
	}
	if a.Usage.Input > 0 || a.Usage.Output > 0 {
		c.Usage = &metric.Usage{InputTokens: int64(a.Usage.Input), OutputTokens: int64(a.Usage.Output)}
	}
	return c
}

// Cluster is the group that an item says it belongs to: the value of a key in
// its labels, its context or its input.
func Cluster(i dataset.Item, key string) string {
	if key == "" {
		return ""
	}
	for _, where := range []jsontext.Value{i.Content.Labels, i.Content.Context, i.Content.Input} {
		var fields map[string]jsontext.Value
		if where.Kind() == '{' && json.Unmarshal(where, &fields) == nil {
			if v, ok := fields[key]; ok && v.Kind() != 'n' {
				return short(plain(v))
			}
		}
	}
	return ""
}

// maxCluster bounds the name of a group, which every row of a result repeats.
const maxCluster = 256

// short replaces a long text by its digest, which tells groups apart as well.
func short(text string) string {
	if len(text) <= maxCluster {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Unscored says of every metric that it was not computed, in place of what it
// may have said of a result that is replaced.
func Unscored(measures []Measure) []result.Score {
	all := make([]result.Score, len(measures))
	for i, m := range measures {
		all[i] = result.Score{Metric: m.Name, Reason: string(metric.ReasonNotComputed)}
	}
	return all
}
