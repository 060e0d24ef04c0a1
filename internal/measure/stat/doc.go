// Package stat computes every number that the platform shows about quality:
// means, pass rates, quantiles, comparisons of runs, and what may be said while
// a run is still going on.
//
// A number never travels alone. It is an Estimate: its value with the number of
// observations, the number of independent units, an interval, the method and a
// status. Where the data carry no conclusion the estimate abstains: the status
// says why and the interval is absent. No function returns an error for a
// statistical reason; an error means that the input is malformed.
//
// The unit of inference is the independent cluster (an item, a document, a
// conversation), never the row. Repetitions of an item are averaged first.
//
// Functions are pure: no clock, no input or output, no shared state. Sums are
// rounded once, so the order of the rows does not change a digit, and whatever
// is drawn at random is drawn from a seed that the caller names. The same data
// give the same digits; another processor may round the last one differently.
package stat
