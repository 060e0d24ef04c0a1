// Package timeline puts everything that is known about one trace into causal order,
// and names what is missing from it.
//
// The entries form a tree, written with each entry before what is below it. Steps are
// below the steps that they are part of, calls of tools below the step that made them,
// with the decisions and approvals about a call directly before it, and its side
// effects, failures and explanations below what they are about. Among neighbours a
// cause comes before its effect, whatever the clocks say; after that time decides, and
// then the id. Where two parts of a trace are each a cause of the other, time decides
// too.
//
// A tool's reply is an acknowledgement and not proof. Every call therefore carries five
// separate marks: requested, authorized, dispatched, acknowledged and verified. A mark
// is set by what was recorded, never by what would usually follow.
//
// The same records give the same timeline, in whatever order they are handed in.
package timeline
