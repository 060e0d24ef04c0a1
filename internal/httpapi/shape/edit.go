package shape

// edit writes a changed copy of a body, from its beginning to its end. Nothing
// is copied before the first change.
type edit struct {
	out    []byte
	copied int // how much of the body is in out, or left out of it
}

// replace puts text in the place of a part of the body. Parts come in order.
func (e *edit) replace(body []byte, start, end int, text []byte) {
	if e.out == nil {
		e.out = make([]byte, 0, len(body)+64)
	}
	if start > e.copied {
		e.out = append(e.out, body[e.copied:start]...)
	}
	e.out = append(e.out, text...)
	e.copied = max(e.copied, end)
}

// finish is the whole body with its changes.
func (e *edit) finish(body []byte) []byte {
	if e.out == nil {
		return body
	}
	return append(e.out, body[e.copied:]...)
}
