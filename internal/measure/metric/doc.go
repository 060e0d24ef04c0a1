// Package metric measures what came of one item of an evaluation.
//
// A metric looks at a case (the item, the output, the tool calls) and gives a
// score, or abstains and says why. A score that could not be computed is
// missing; it is never a zero.
//
// A metric is configured in two places: by parameters when it is found in the
// registry, and by the item's own assertions. An assertion whose type is the
// name of a metric holds parameters of that metric for this item:
//
//	{"type": "regex_match", "pattern": "^INV-[0-9]{6}$"}
//
// The item wins over the parameters, parameter by parameter, and the parameters
// win over the defaults. Parameters that are wrong are an error when the metric
// is found; an assertion that is wrong makes the metric abstain for its item.
//
// Outputs, items, patterns and schemas come from outside, so every score is
// computed within a fixed amount of work and memory. What would need more is not
// scored. All metrics are pure: the same case gives the same score, and any
// number of goroutines may share a metric.
package metric
