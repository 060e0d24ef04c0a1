package adjudication

import (
	"context"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/telemetry/score"
)

// Candidate is one of the positions in conflict.
type Candidate struct {
	// Origin says whose position it is: judge:<key>, user/<id> or what the caller
	// wrote.
	Origin    string   `json:"origin"`
	Label     string   `json:"label,omitzero"`
	Score     *float64 `json:"score,omitzero"`
	Rationale string   `json:"rationale,omitzero"`
}

// maxCandidates is how many positions an item shows.
const maxCandidates = 50

// candidateOf is the position of a judge.
func candidateOf(r judge.Result) Candidate {
	c := Candidate{Origin: judge.MetricPrefix + r.Key, Rationale: r.Reasoning}
	if r.Status == judge.VerdictCompleted {
		c.Label, c.Score = verdict(r.Passed), &r.Score
	} else {
		c.Label = string(r.Status)
	}
	return c
}

func verdict(passed bool) string {
	if passed {
		return judge.LabelPass
	}
	return judge.LabelFail
}

// positions are what judges and people have said about a subject. A judge's newest
// version speaks for the judge.
func (s *Service) positions(ctx context.Context, org principal.OrgID, of score.Subject) ([]Candidate, error) {
	if of.Kind == "" {
		return nil, nil
	}
	results, err := s.newest(ctx, org, of)
	if err != nil {
		return nil, err
	}
	var all []Candidate
	for _, r := range results {
		all = append(all, candidateOf(r))
	}
	people, err := s.said(ctx, org, of)
	if err != nil {
		return nil, err
	}
	for _, one := range people {
		if one.Label == "" && within(one.Value) == nil && one.Comment == "" {
			continue // a correction, or a number on another scale
		}
		all = append(all, Candidate{Origin: personOrigin(one.Source.ID), Label: one.Label, Score: within(one.Value), Rationale: one.Comment})
	}
	return all[:min(len(all), maxCandidates)], nil
}

// personPrefix begins the origin of a member's position.
const personPrefix = "user/"

func personOrigin(user string) string { return personPrefix + user }

// within is a value as a score from 0 to 1; nil if it is none.
func within(v *float64) *float64 {
	if v == nil || *v < 0 || *v > 1 {
		return nil
	}
	return v
}

// said are the scores that members of the organization gave to a subject.
func (s *Service) said(ctx context.Context, org principal.OrgID, of score.Subject) ([]score.Score, error) {
	if of.Kind == "" {
		return nil, nil
	}
	all, err := s.scores.Page(ctx, org, score.Page{Source: score.Source{Kind: score.SourcePerson}, Subject: of, Below: 1 << 62, Limit: 1000})
	return slices.DeleteFunc(all, func(one score.Score) bool { return one.Subject != of }), err
}

// disagreement is how far apart positions are, from 0 to 1: the range of their
// scores, or all the way if verdicts differ.
func disagreement(all []Candidate) float64 {
	low, high, passes, fails := 1.0, 0.0, false, false
	scored := 0
	for _, c := range all {
		if c.Score != nil {
			low, high, scored = min(low, *c.Score), max(high, *c.Score), scored+1
		}
		passes, fails = passes || c.Label == judge.LabelPass, fails || c.Label == judge.LabelFail
	}
	switch {
	case passes && fails:
		return 1
	case scored < 2:
		return 0
	}
	return high - low
}

// judged is what the judges among the candidates say together: whether the answer
// passes. Judges who are divided, or none at all, say nothing.
func judged(all []Candidate) (passed, ok bool) {
	passes, fails := false, false
	for _, c := range all {
		if !strings.HasPrefix(c.Origin, judge.MetricPrefix) {
			continue
		}
		passes, fails = passes || c.Label == judge.LabelPass, fails || c.Label == judge.LabelFail
	}
	return passes, passes != fails
}
