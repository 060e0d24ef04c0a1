// Package arch holds the laws of this repository's shape and the check that
// applies them: which package may import which, which file of a domain may
// speak HTTP, SQL or Temporal, where a clock or an outbound connection may come
// from, and what every query and every domain must carry.
//
// The laws are tables; this package's tests apply them to the repository and
// prove, by seeding one violation of each, that none of them is silent.
package arch
