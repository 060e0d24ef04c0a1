package otlp

import (
	"bytes"
	"io"

	"google.golang.org/grpc/mem"
)

// message is what an RPC received: a reference to the memory of the transport.
type message struct{ data mem.BufferSlice }

// free lets the transport use the memory again.
func (m *message) free() {
	m.data.Free()
	m.data = nil
}

// whole is the message, if it is in one piece.
func (m *message) whole() ([]byte, bool) {
	switch len(m.data) {
	case 0:
		return nil, true
	case 1:
		return m.data[0].ReadOnlyData(), true
	}
	return nil, false
}

// packed is the compressed message, if it came compressed.
func (m *message) packed() ([]byte, bool) {
	if text, ok := m.whole(); ok && len(text) > 0 && text[0] == packedMark {
		return text[1:], true
	}
	return nil, false
}

// rawCodec hands messages over as they are; what they mean is for handlers.
type rawCodec struct{}

// Name is the encoding of the messages. It is what clients say and expect.
func (rawCodec) Name() string { return "proto" }

// Marshal sends the bytes of a response.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// Unmarshal keeps a reference to the message.
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	m := v.(*message)
	data.Ref()
	m.free() // of the first message, if a caller sends two
	m.data = data
	return nil
}

// packedMark is before a message that came compressed. No message begins with
// it: as the tag of a field it has a wire type that does not exist, so a caller
// that sends it says nothing but that its message is compressed.
const packedMark = 0x07

// passThrough leaves messages compressed. The server would decompress a message
// whole before anyone can count it; a handler's intake decompresses it step by
// step, and pays for each step.
type passThrough struct{}

// Type is the encoding that is left alone.
func (passThrough) Type() string { return "gzip" }

// Do copies the compressed message behind the mark.
func (passThrough) Do(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	if sized, ok := r.(interface{ Remaining() int }); ok {
		b.Grow(1 + sized.Remaining() + bytes.MinRead) // else the buffer grows to see the end
	}
	b.WriteByte(packedMark)
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}
