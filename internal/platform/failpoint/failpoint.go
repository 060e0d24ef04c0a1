// Package failpoint marks the moments at which a crash would be worst, so that
// proofs can crash a process at each of them. A domain declares its own points,
// and lists them in its Failpoints. In a build without the tag failpoints a point
// does nothing and costs nothing.
package failpoint

// Point is a moment in the life of a write or of a run.
type Point string
