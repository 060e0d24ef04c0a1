package stat

import "cmp"

// Observation is one score of one item, with how it came about. It says what an
// estimator needs to know about itself, so that no caller can say it of a whole
// list of which it is not true.
type Observation struct {
	Item    string  `json:"item"`
	Content string  `json:"content,omitzero"` // digest of what the item says; compared where both sides have one
	Cluster string  `json:"cluster,omitzero"` // empty: the item is its own cluster
	Epoch   int     `json:"epoch,omitzero"`   // which repetition; only Overall asks
	Score   float64 `json:"score"`            // means nothing if the score is missing
	Missing Cause   `json:"missing,omitzero"` // why there is no score; empty if there is one
	Weight  float64 `json:"weight,omitzero"`  // of the item; counts only with Options.Weighted
	Provenance
}

// Cause says why there is no score. It decides whether the observation counts
// against the system under test or is left out.
type Cause string

// The causes. What the item does not allow is left out; whatever else is
// missing could have been scored.
const (
	Present     Cause = ""       // there is a score
	CauseItem   Cause = "item"   // no answer to the item can be scored
	CauseOutput Cause = "output" // the answer cannot be scored
	CauseSystem Cause = "system" // there is no answer: an error, a timeout, an item that was skipped or never sent
)

func (c Cause) known() bool {
	return c == Present || c == CauseItem || c == CauseOutput || c == CauseSystem
}

// Provenance says who made a score, and by which version of their rules. The zero
// value is code whose version is the same everywhere.
type Provenance struct {
	Source  Source `json:"source,omitzero"`
	Version string `json:"version,omitzero"`
}

// Source says who made the scores behind an estimate.
type Source string

// The sources of scores. Hybrid is a judge that people corrected or joined.
const (
	SourceHuman  Source = "human"
	SourceJudge  Source = "judge"
	SourceHybrid Source = "hybrid"
	SourceCode   Source = "code"
)

func (s Source) known() bool {
	return s == "" || s == SourceHuman || s == SourceJudge || s == SourceHybrid || s == SourceCode
}

// And is who made scores of both sources. Code takes nothing away from the
// judgement that it is combined with, and lends it nothing.
func (s Source) And(other Source) Source {
	s, other = cmp.Or(s, SourceCode), cmp.Or(other, SourceCode)
	switch {
	case s == SourceCode || s == other:
		return other
	case other == SourceCode:
		return s
	}
	return SourceHybrid
}
