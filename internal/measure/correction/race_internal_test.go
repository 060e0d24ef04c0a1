//go:build race

package correction

// The race detector makes arithmetic ten times as slow and finds nothing in it.
func init() { fewRuns = 150 }
