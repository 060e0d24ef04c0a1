// Package effect says what can be known about a side effect from its own record and from
// the policy decision about it: whether it was sent, whether that was allowed, until when
// it must be verified, and how it may change.
package effect
