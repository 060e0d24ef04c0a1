// Package schema holds JSON of strangers against JSON Schemas of strangers.
//
// A schema of a few lines can ask for more checks than there are atoms, a pattern
// can grow a thousandfold, and a document can be deeper than any stack. So a
// schema is bounded when it is compiled: its size, its parts, how they refer to
// each other, and its patterns; it reads no files and makes no calls. What
// remains is counted: reading, matching and checking spend the Work of a task,
// and stop when it is used up.
//
//	compiled, err := schema.Compile(text)
//	work := schema.NewWork()
//	value, err := work.Decode(document)
//	matches, wrong, err := compiled.Check(&work, value)
package schema
