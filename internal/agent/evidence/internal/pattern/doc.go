// Package pattern has the templates of the work that agents do: twelve patterns, each
// with its steps, what can go wrong, where a person must agree, the policies that guard
// it, the evidence that shows it went well, and a simulation that tries it without
// touching the world.
//
// Templates are data. A team takes one as a starting point, so each stands on its own:
// its policies permit what its plan needs and nothing else, since what no policy permits
// is denied.
//
// They are files of JSON, read strictly, in the order of their names: a member that a
// Template does not have is an error.
//
// # What each guards
//
//   - rag_answer: the last step. An answer that its sources do not support stays inside.
//   - support_refund: the amount.
//   - code_change: running code, which happens in a sandbox, and merging, which a person decides.
//   - data_analyst: the database. It is read, and never without a limit.
//   - outreach_email: sending. A message cannot be taken back.
//   - browser_research: what pages say to the agent. It can read them, and can do nothing that they ask for.
//   - delegation_team: the handoff. An agent passes on no more than it has, and no more than the task needs.
//   - document_intake: personal data.
//   - infra_change: every change, and each has a way back before it is made.
//   - invoice_payment: the payment. Two people agree, and it counts as made when the bank shows it.
//   - scheduled_batch: that an item is done once, and that the run ends.
//   - human_review: every write, which people decide.
//
// # What the policies read
//
// Policies are Cedar. They are about Action::"tool.call", and read from the context
// only the attributes that Attributes lists. A policy that forbids treats an attribute
// that is missing as the worst case, so that a caller who leaves it out gains nothing:
// it is denied or must ask.
package pattern
