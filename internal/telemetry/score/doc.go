// Package score keeps what was said about the quality of something: a metric's
// value or label, who or what said so, and when.
//
//	subject  what a score is about: a trace, one of its spans, an item of a run,
//	         a match, a conversation
//	source   where it comes from: code, a judge, a person, a client, or a user
//	         of the application; each with the name of who or what it was
//	metric   what was measured
//
// A newer score of the same subject, source and metric replaces the older one:
// sources do not overwrite each other, and work that is repeated has one effect.
// A score that is marked Separate replaces nothing, and the versions of a judge do
// not replace each other.
//
// Scores lie in ClickHouse. Whoever scores in bulk, and repeats what failed,
// inserts. Whoever answers a request promises a score in the transaction of the
// change that it belongs to, and then stores it: the promise is kept even if the
// process ends in between, and while ClickHouse is away.
package score
