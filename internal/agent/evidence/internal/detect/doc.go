// Package detect derives failures from evidence, one record at a time, by rules that are
// data, and names each failure so that the same one is recognized when it happens again.
//
// What takes more than one record to see is found elsewhere: repetition, effects that
// stay unverified, and tools whose description changed.
package detect
