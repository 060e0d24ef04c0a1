// Package correction turns what a judge says into what can be said about quality:
// estimates that people's labels correct, probabilities in place of scores, and
// thresholds above which no person needs to look.
//
// A judge's mean is the judge's opinion, however narrow its interval. It becomes
// a measurement with labels from people on a random part of the same items. The
// corrected estimate is right on average whatever the judge does; the better the
// judge, the fewer labels it takes.
//
// Every label carries the probability with which its item was chosen. Labels of
// unknown probability, such as complaints and disputed cases, correct nothing.
//
// The package stands on package stat and keeps its promises: estimates carry
// their interval, method and status, or abstain and say why; functions are pure,
// and random numbers come from a seed that the caller names.
package correction
