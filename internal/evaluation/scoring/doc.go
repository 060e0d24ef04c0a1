// Package scoring is what an evaluation measures and how: which metrics, of which
// target's answers, and when an item passes. It asks targets and assesses their
// answers, for whoever executes a plan, and has the plan's form on the wire.
package scoring
