// Package purge removes deleted evaluations for good once their time is over, with
// their runs, results and artifacts.
package purge
