// Package ledger finds out what is known about side effects besides their own records: the
// policy decision, what the connector says about the tool, and who was first.
package ledger
