// Package labelfile reads and writes the items of annotation tasks, with what people
// said about them: as JSON Lines, as CSV, and in the JSON format of Label Studio.
//
// It opens no files and asks nobody. Reading takes one item at a time, and an item that
// cannot be read does not hide those after it. What a Writer writes, a Reader reads as
// the same records.
package labelfile
