// Package gate holds runs against requirements, and keeps what was decided.
//
// Words: a gate is a list of requirements on a run. A decision is its verdict,
// stored with what was asked, the figures behind every answer and the baseline
// they were compared with. A ruling is the answer to one requirement. Drift is how
// far a run has moved from the run that its evaluation is pinned to, however small
// each step from one release to the next was.
//
// A decision is never changed. Deciding again makes another one. The newest says
// whether the run passed, unless one has failed: a run that failed a gate does not
// become a baseline by being asked something easier.
package gate
