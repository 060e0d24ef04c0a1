// Package annotate lets a person answer the items of an annotation task in a terminal,
// with single keys where they are enough and lines where they are not.
//
// The server decides which item comes next. Every answer is sent at once, so that
// nothing is lost when the person stops. Without a terminal the same keys and lines
// are read from standard input.
package annotate
