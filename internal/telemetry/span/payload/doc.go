// Package payload reads what went into and came out of a span: JSON of any
// shape, or plain text. It finds the messages of a conversation in it, the text
// to search, and previews, and it reads in place, without decoding the whole.
package payload
