package requirement

import (
	"fmt"
	"strings"
)

// Baseline names a run to compare with, by its place before the judged run or by
// what it measured: branch:main, release:rel-2026.03 or tag:v1.2.
type Baseline string

// The places. A run on a branch is compared with runs of the same branch.
const (
	BaselineLatest   Baseline = "latest"   // the newest run, however it stands
	BaselinePrevious Baseline = "previous" // the newest completed run
	BaselinePassed   Baseline = "passed"   // the newest run that passed its gate
	BaselinePinned   Baseline = "pinned"   // the run that the evaluation is pinned to
)

// BaselineForms lists what a baseline can be, for messages.
const BaselineForms = "passed, pinned, previous, branch:NAME, release:ID or tag:NAME"

// The kinds of what a run measured.
const (
	KindBranch  = "branch"
	KindRelease = "release"
	KindTag     = "tag"
)

// Measured splits a baseline that is named by what it measured. Both parts are
// empty for a place.
func (b Baseline) Measured() (kind, name string) {
	kind, name, found := strings.Cut(string(b), ":")
	if !found || name == "" || kind != KindBranch && kind != KindRelease && kind != KindTag {
		return "", ""
	}
	return kind, name
}

// NoBaseline is returned where a baseline names no run.
type NoBaseline struct {
	Baseline Baseline
	// Branch is that of the run which needs a baseline; empty if it has none.
	Branch string
}

// Error says what is lacking, and what to do.
func (e *NoBaseline) Error() string {
	if kind, name := e.Baseline.Measured(); kind != "" {
		return fmt.Sprintf("No earlier run of %s %s can be a baseline: it must have completed on all items, with at most 5%% without an answer, and have failed no gate. Start one there, or name a run by its ID.", kind, name)
	}
	of := "The evaluation"
	if e.Branch != "" {
		of = "Branch " + e.Branch
	}
	switch e.Baseline {
	case BaselinePassed:
		if e.Branch != "" {
			return fmt.Sprintf("No earlier run of branch %s has passed its gates. Compare with another branch, such as branch:main, or decide on thresholds alone first.", e.Branch)
		}
		return "No earlier run has passed its gates. Decide on thresholds alone first, or pin a run with `assay baseline pin`."
	case BaselinePinned:
		return "The evaluation is pinned to no run. Pin one with `assay baseline pin`."
	case BaselinePrevious:
		return of + " has no earlier run that completed on the same items, with at most 5% without an answer. Name a run by its ID, or compare with another branch, such as branch:main."
	}
	return of + " has no earlier run."
}
