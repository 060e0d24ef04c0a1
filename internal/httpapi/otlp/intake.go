package otlp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/shape"
)

const (
	// smallestRead is what a body of unknown length starts with: nearly every
	// single export of an SDK fits.
	smallestRead = 64 << 10
	// largestKept is the largest buffer that is used again. It holds a full
	// batch of a collector. Larger ones are rare, and kept they would serve
	// small bodies. What is kept was all in use at one time, so accounts bound
	// it too, and the garbage collector empties it in quiet times.
	largestKept = 4 << 20
)

// errGzip is for a body that is not what its header says.
var errGzip = httpapi.Invalid(fault.Field{In: "header", Path: "Content-Encoding", Code: "format", Message: "the body is not the gzip that the header announces"})

// intake takes one body in. Its memory is used again by later ones: the buffer,
// the decompressor and the request that the handler sees.
type intake struct {
	req     Request
	limit   int
	account httpapi.Account

	buf  []byte
	wire wire
	zip  *unzipper

	message message
	packed  bytes.Reader
}

var intakes = sync.Pool{New: func() any { return new(intake) }}

// newIntake prepares for a body. The intake must be closed.
func (o *operation) newIntake(ctx context.Context) *intake {
	in := intakes.Get().(*intake)
	in.account, in.limit = httpapi.Admitted(ctx), int(o.BodyLimit)
	return in
}

// close gives back the memory of the body.
func (in *intake) close() {
	in.message.free()
	if cap(in.buf) > largestKept {
		in.buf = nil
	}
	in.packed.Reset(nil)
	in.req, in.account, in.wire = Request{}, nil, wire{}
	intakes.Put(in)
}

// readStream reads a body from the wire. announced is its length there, or -1.
func (in *intake) readStream(src io.Reader, zipped bool, announced int) error {
	in.wire = wire{src: src, limit: in.limit}
	var err error
	if zipped {
		err = in.unzip(&in.wire)
	} else {
		err = in.fill(&in.wire, announced)
	}
	in.req.WireBytes = in.wire.n
	return err
}

// readMessage makes the message of an RPC the body. A message that came in one
// piece is used where it is; one of several pieces is put together.
func (in *intake) readMessage() error {
	if packed, ok := in.message.packed(); ok {
		if err := in.arrived(len(packed), len(packed)); err != nil {
			return err
		}
		in.packed.Reset(packed)
		return in.unzip(&in.packed)
	}
	n := in.message.data.Len()
	if whole, ok := in.message.whole(); ok {
		in.req.Body = whole
		return in.arrived(n, n)
	}
	size := max(httpapi.RoundUp(n), smallestRead)
	if err := in.arrived(n, size); err != nil {
		return err
	}
	in.grow(size)
	in.buf = in.buf[:n]
	in.message.data.CopyTo(in.buf)
	in.message.free()
	in.req.Body = in.buf
	return nil
}

// arrived notes a message of n bytes and pays for the memory that it needs.
func (in *intake) arrived(n, memory int) error {
	in.req.WireBytes = n
	if n > in.limit {
		return in.tooLarge()
	}
	return in.account.Take(memory)
}

// unzip fills the buffer with what src decompresses to.
func (in *intake) unzip(src io.Reader) error {
	if in.zip == nil {
		in.zip = newUnzipper()
	}
	in.zip.reset(src)
	return in.fill(in.zip, -1)
}

// fill reads src to its end. announced is its length, or -1.
func (in *intake) fill(src io.Reader, announced int) (err error) {
	if in.buf, err = httpapi.Fill(in.buf, src, max(smallestRead, announced+1), in.limit, in.account.Take); err != nil {
		return unreadable(err)
	}
	in.req.Body = in.buf
	return nil
}

// grow gives the buffer room for n bytes and keeps its content.
func (in *intake) grow(n int) {
	if cap(in.buf) < n {
		in.buf = append(make([]byte, 0, n), in.buf...)
	}
}

func (in *intake) tooLarge() error { return httpapi.TooLarge(int64(in.limit)) }

// wire counts what is read, and ends a body that is longer there than it may
// become: the rest of it could only be padding.
type wire struct {
	src      io.Reader
	n, limit int
}

func (w *wire) Read(p []byte) (int, error) {
	if w.n > w.limit {
		return 0, httpapi.TooLarge(int64(w.limit))
	}
	n, err := w.src.Read(p)
	w.n += n
	return n, err
}

// unreadable is what the caller sees of an error while its body was read.
func unreadable(err error) error {
	_, refused := fault.From(err)
	switch {
	case refused:
		return err
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return errGzip
	}
	// Corrupt data and an early end look the same to the caller: what arrived
	// is not a whole body.
	return shape.ErrCut
}
