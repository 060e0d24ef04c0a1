// Package policy keeps the policies of an organization, in Cedar, and decides by them
// what agents may do.
//
// A policy is a draft, active or retired:
//
//	from    event       to
//	draft   activate    active
//	draft   retire      retired
//	active  deactivate  draft
//	active  retire      retired
//
// Active policies decide together; see package engine for the order of decision. A
// policy whose mode is shadow changes no decision: decisions say what it would have
// changed. One that is disabled is not asked.
//
// Words: a version of a policy is everything that can change a decision, and its tests;
// it never changes. The set of an organization is its active policies; its revision
// counts their changes. The baseline is the policy that an organization begins with; it
// is a policy like any other.
//
// A decision keeps its question with what was known when it was made, so that a back-test
// can ask it again: of a draft, which then is judged by what people said about the actions.
package policy
