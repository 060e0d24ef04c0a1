// Package pattern has the templates of the work that agents do: twelve patterns, each
// with its steps, what can go wrong, where a person must agree, the policies that guard
// it, the evidence that shows it went well, and a simulation that tries it without
// touching the world.
//
// Templates are data. A team takes one as a starting point, so each stands on its own:
// its policies permit what its plan needs and nothing else, since what no policy permits
// is denied.
//
// # What the policies read
//
// Policies are Cedar. They are about Action::"tool.call", and read from the context
// only the attributes that Attributes lists. A policy that forbids treats an attribute
// that is missing as the worst case, so that a caller who leaves it out gains nothing:
// it is denied or must ask.
package pattern
