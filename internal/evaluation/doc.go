// Package evaluation measures how good an application is: evaluations, their
// runs, and what came out of them.
//
// A run goes one way:
//
//	from     event     to
//	running  complete  completed
//	running  fail      failed
//	running  cancel    cancelled
//
// Where a running run is, is its phase: queued until the workflow engine has
// begun it, then executing, then aggregating. In between, the results of a client
// are scored by those who have to be asked. An evaluation has no state of its own
// beside being archived; it shows that of its runs.
//
// Words: the plan of an evaluation says which metrics measure what which target
// answers, and when an item passes. A run executes the plan as it was when the
// run began, on a frozen version of the dataset. Its units are its items times
// its repetitions, in an order that is drawn once; a chunk is a stretch of units
// that one activity executes; a lane executes one chunk after another. What came
// of a unit is its outcome, which package result keeps.
package evaluation
