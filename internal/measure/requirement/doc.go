// Package requirement decides requirements on intervals: whether a run is good enough.
//
// Words: a requirement is a threshold for a figure, such as pass_rate>=0.9, or a
// claim about its difference from a baseline, such as overall:non_inferior. A
// decision is the verdict on one requirement with its reason.
//
// Only what the interval shows passes, and only what it refutes fails.
// Everything else is inconclusive.
package requirement
