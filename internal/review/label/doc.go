// Package label is what a task can ask people for, and what they answer: the labels of
// a schema, which answers it accepts, and how far several answers to one item agree.
//
// It stores nothing and asks nobody.
package label
