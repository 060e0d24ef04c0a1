// Package report writes the report of a run: one HTML file without scripts that
// refers to nothing outside itself.
//
// It takes values and writes text: it reads no store and no clock, so the same
// values give the same bytes.
package report
