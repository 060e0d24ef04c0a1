// Package judge asks models for verdicts, and treats those models as instruments:
// each has a scale, versions that never change, known errors and a cost.
//
// A judge is a draft, active or retired:
//
//	from     event     to
//	draft    activate  active
//	draft    retire    retired
//	active   retire    retired
//	retired  restore   active
//
// A draft can be tried and measured. Evaluations and rules use active judges. A
// retired judge can be read, and gives no verdicts.
//
// Words: the spec of a judge is everything that can change a verdict; each change of
// it makes a version. A case is what is judged. An opinion is one answer of the
// model; a verdict is what the opinions about a case amount to. A result is a
// recorded verdict, and lies among the scores.
//
// What is judged was written by others, who may want to influence the judge. It
// reaches the model as JSON strings in a message of its own; the instructions are the
// same bytes whatever is judged.
package judge
