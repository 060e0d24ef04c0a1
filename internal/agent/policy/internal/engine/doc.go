// Package engine decides on actions of agents by policies in Cedar.
//
// It is pure: a decision depends on the policies and the question only, so that the same
// question under the same policies gets the same answer years later. What lies outside,
// such as what an agent did before, the caller reads and puts into the question.
//
// A policy is a Cedar text with one or more statements. Cedar knows permit and forbid;
// a forbid with @effect("require_approval") forbids until people agree.
//
// The order of decision:
//
//	a forbid matches                        deny, rule_matched
//	a forbid cannot be evaluated            deny, engine_error
//	an approval is required and missing     require_approval, rule_matched
//	a permit matches, or people agreed      allow, rule_matched
//	none of these                           deny, no_permit
//
// # Where it differs from Cedar
//
// Which statements match a question, and which cannot be evaluated, is what Cedar's
// reference implementation says: oracle/run asks both on random policies and questions,
// and counts every difference. What is made of it differs on purpose:
//
//   - A forbid that cannot be evaluated denies. Cedar leaves it out, so that a misspelled
//     attribute would switch off a prohibition without anybody noticing.
//   - A forbid with @effect("require_approval") asks people instead of denying, and if they
//     agree it permits. To Cedar it is a forbid.
//   - A question is JSON, which has no types of Cedar's: a number that is written as an
//     integer is a Long, one that fits a decimal exactly is a decimal, and any other stays
//     the text that it is. Null is as if it were absent. Nothing is rounded, and nothing
//     becomes an entity.
//   - Types of entities are written as Cedar can: other characters become _. An action is of
//     type Action, whatever the question says. Entities have no parents.
//   - What the platform knows about an action, context.side_effect_class for example,
//     replaces what the caller says about it.
//   - A question about a runtime and a tool that names another subject, action or resource is
//     asked with and without these names. What restricts counts in every form, and what
//     permits only as the question was put: naming more cannot lift a prohibition.
//   - Texts, nesting, sizes of sets and questions, and the cost of an evaluation are bounded:
//     see the limits. What exceeds them is refused, or denied with engine_error.
//   - There are no templates: a slot such as ?principal is refused. A schema helps editors, and
//     no decision depends on it: a review says which names of a policy are not known.
//
// One difference between implementations is closed when a policy is read: an action in the
// scope that is not of type Action is refused, as the reference does and cedar-go does not.
package engine
