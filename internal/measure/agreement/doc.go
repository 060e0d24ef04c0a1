// Package agreement computes how well raters agree: a judge with people, people
// with each other, and a judge with itself.
//
// It stands on package stat and keeps its promises. A number is an estimate with
// its size, its interval, its method and a status; where the data carry no
// conclusion it abstains and says why. Agreement that chance explains is never
// shown as agreement: raters who gave a single label throughout have no kappa,
// and a class that nobody used has neither precision nor recall.
//
// The unit of inference is the item, or the cluster of items, never the rating.
// Pairs that were chosen with known probabilities are weighed by them; labels
// whose probability nobody knows describe the items that were labelled and no
// others, and are not mixed with the rest.
//
// Most intervals of this field collapse where agreement is high or a label is
// rare, which is where judges are. Those computed here act as if two more items
// had been rated at random, which keeps them open; the estimates themselves are
// not moved.
//
// The time is linear in the number of pairs. Random numbers come from a seed that
// the caller names.
package agreement
