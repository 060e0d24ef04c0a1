// Package runstat computes what the results of a run amount to, and how two runs
// differ.
//
// It takes outcomes and returns figures: it reads no store, and the same outcomes
// always give the same digits.
package runstat
