// Package annotation is the work of people: tasks, their items, and what people say
// about items, runs and traces.
//
// A task:
//
//	from       event     to
//	draft      activate  active
//	active     pause     paused
//	paused     resume    active
//	active     complete  completed
//	completed  reopen    active
//	any        archive   archived
//
// A task completes by itself when its last item does, and is active again when it
// gets items or one of them needs people again. Items are answered in active tasks
// only.
//
// The status of an item follows from its counts:
//
//	adjudicated  somebody has decided about the answers
//	annotated    as many people have answered as it needs, and they agree
//	conflicted   they have answered, and agree less than the task's threshold
//	skipped      as many people have skipped it as it needs
//	in_progress  somebody has answered it or holds it
//	pending      none of these
//
// An item that is annotated, conflicted, adjudicated or skipped is complete: nobody
// is asked about it any more.
//
// One person is one annotator, whatever keys they use, and answers an item once. In
// a blind task nobody reads the answers of others before the item is complete, and
// from then on nobody changes theirs.
//
// Words: a lease is the right of one person to answer an item for a while; a slot is
// one of the answers that an item needs, which is open, held under a lease, or
// answered. A person's place is how far they have come in a task's queue.
package annotation
