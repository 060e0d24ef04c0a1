// Package artifact keeps the files that runs leave behind: their list in
// PostgreSQL, their bytes in the object storage.
//
// A file is written in parts, so that memory is bounded however large it is. It
// is known once it is whole, and writing it again replaces it. Tables of results
// are written as CSV for spreadsheets and as Parquet for programs.
package artifact
