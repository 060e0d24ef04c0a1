// Package result stores the outcomes of evaluation runs: one for each item in
// each repetition, with its scores.
//
// Words: an outcome is the result of one item in one repetition (an epoch); a
// score is the value that one metric gives to it, or the reason why there is no
// value. A run is identified by its number and its start time, which determines
// the partition of its results.
//
// Rows are keyed by run, item, epoch and metric, and not by time: repeated work
// replaces its earlier rows, and readers never see a row twice.
package result
