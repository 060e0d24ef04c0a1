// Package rule has judges assess live traffic: a share of the traces as they
// arrive, and traces of the past on request.
//
// A rule is active or paused:
//
//	from    event     to
//	active  pause     paused
//	paused  activate  active
//
// An active rule judges traces that arrive after its activation. What arrives while
// it is paused is judged by a back-fill only.
//
// A back-fill applies a rule to the traces of a time:
//
//	from     event     to
//	running  complete  completed
//	running  stop      stopped    a cap is reached, or the judge cannot be asked
//	running  cancel    cancelled
//
// Words: a trace is matched if it meets the rule's filter and has ended; it is
// sampled if its place, a number in [0, 1) that follows from the sampling key and its
// id, is below the rate. A claim is the right to have a trace judged by one version
// of a judge; while a rule or a back-fill holds it, no other asks. A holder is a rule
// or a back-fill. A blocked rule is an active one whose judge cannot be asked at the
// moment: it goes on reading, and counts what it reads as skipped.
//
// No trace is paid for twice: whoever holds the claim first looks whether the judge's
// version has given a verdict already, and lets the claim go only when its own one
// can be read. Only the call that was under way when a worker died may be repeated.
package rule
