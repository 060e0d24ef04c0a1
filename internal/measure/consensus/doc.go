// Package consensus makes one answer of what several people said about an item,
// and says how far to trust it and them.
//
// The default is the model of Dawid and Skene: every annotator has a matrix of
// how often they take one label for another, and the items' labels are what
// makes all of them together most plausible. The matrices are smoothed as if a
// few more labels had been seen, so that three people who agree are not taken
// for certainty. Where there are too few labels for matrices, votes are
// counted, and the posterior says how little a few votes prove. Ties stay open.
//
// Annotators who agree with the others less than chance would are named and
// left out. If that is most of them, nobody can tell which side is right, and
// there is no consensus.
//
// The package also grades annotators, and says which items a person should
// decide. A judge may be one of the annotators in order to be watched, but never
// in order to make the labels that it is graded by.
//
// The package stands on packages stat and agreement and keeps their promises:
// numbers carry their size, interval, method and status, or abstain and say why.
// Functions are pure; the order of their input does not change a digit; their
// time is linear in the number of labels.
package consensus
