// Package evidence draws what is known about a trace: its records as a tree in causal
// order, the five marks of every action, and what is missing.
//
// Titles, summaries and notes were written by applications, models and their users.
// Nothing of them reaches the terminal that could move its cursor, set its title or
// turn the order of its letters.
package evidence
