//go:build race

package stat_test

// The race detector makes arithmetic ten times as slow and finds nothing in it.
func init() { fewRuns = 200 }
