// Package cli has the commands of a user: traces, runs, comparisons and gates.
// They run on the user's machine and ask a server through internal/command/client.
package cli
