// Package itemfile reads and writes the items of a dataset as lines of a file: CSV
// with a header, or JSON Lines.
//
// Reading takes one line at a time, so that a file of any length needs little
// memory, and a line that is not an item does not hide those after it. Columns are
// mapped to fields of an item; a column that is mapped to nothing is refused, so
// that no expectation is lost to a misspelling.
package itemfile
