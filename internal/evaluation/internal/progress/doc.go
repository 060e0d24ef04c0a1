// Package progress keeps how far a run is while it runs: what each of its chunks
// has done, what happened on the way, and how many workers died of which unit.
package progress
