// Package record is a record of evidence as all of the domain knows it: its fields and
// links, what it is recognized by, how it is shown, and how lists select it. It stores
// nothing.
package record
