// Package review keeps what people decided about connectors apart from what connectors
// say about themselves: whether one is still what was looked at, and what its tools do to
// the world. It works on values alone and stores nothing.
package review
