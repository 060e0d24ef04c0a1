// Package ratelimit counts what a key uses in a sliding window and refuses what
// goes over its limit.
//
// # The promise
//
// At every instant t, the units admitted for a key in (t-window, t] are at most
// the limit. For limits up to [ExactLimit] the reverse holds too: a request is
// refused only if admitting it would break that rule. Above ExactLimit the log
// is kept in steps of window/[Steps]: a unit counts up to one step too long, so
// a request is refused only if it would not fit in a window that is one step
// (1/3600, one second in an hour) longer. It never counts too short.
//
// Every admitted request counts, whatever comes of it later. A refused request
// does not count: a client that keeps asking is not kept out any longer than
// one that waits. The limit is given with each call, because plans change; a
// lower limit counts what the higher one admitted.
//
// # Keys
//
// A key begins with the organization, as in "ORG/key/ID" or "ORG/spans", so that
// no two organizations ever share a count. The package does not look inside.
//
// # Where the counts live
//
// [Memory] counts in this process. [Redis] counts for all replicas, by Redis's
// clock. Both keep the same log and give the same answers. [Soft] asks one and,
// while it is away, the other: an outage of Redis does not become an outage of
// the product. While Redis is away every replica grants the whole limit, so N
// replicas admit up to N times the limit, and in a window that contains an
// outage up to N+1 times. A Redis that loses its data starts from nothing.
package ratelimit
