// Package score keeps what evaluation runs found: the outcome of each item in
// each repetition, and its scores.
//
// Words: an outcome is what came of one item in one repetition (an epoch); a
// score is what one metric says about it, or why it says nothing. A run is
// known here by its number and the time it began, which says where its results
// lie.
//
// Results are written under the run, the item, the epoch and the metric, and
// under no clock: work that is done again replaces what it wrote before, and
// readers never see anything twice.
package score
