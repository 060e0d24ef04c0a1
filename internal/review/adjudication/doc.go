// Package adjudication keeps the queue of answers about which somebody has to decide,
// the decisions, and the ground truth that comes from them.
//
// An item goes through these states:
//
//	from       event         to
//	open       assign        assigned
//	assigned   release       open
//	open       decide        decided
//	assigned   decide        decided
//	open       dismiss       dismissed
//	assigned   dismiss       dismissed
//	decided    close         closed     by ground truth, or by hand if the decision allows none
//	decided    reopen        open
//	dismissed  reopen        open
//	closed     reopen        open       its ground truth is revoked
//
// Words: the subject of an item is what it is about, such as an answer of a run; its
// content is what was asked and answered, as it was when the item was opened; the
// content digest names input and output (dataset.Assessed). Candidates are the
// positions in conflict. A decision is one person's; it stands until the item is
// reopened, and stays in the history then. Ground truth is what is right about the
// answer from now on. An entry says that an item of a calibration or golden dataset
// rests on ground truth.
//
// Whoever sees a reason to open an item, such as a judge, does not know of this area:
// it reads their events.
package adjudication
