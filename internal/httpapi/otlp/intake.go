package otlp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/shape"
	"github.com/assayhq/assay/internal/principal"
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
	req       Request
	limit     int
	admission Admission

	buf  []byte
	wire wire
	zip  *unzipper

	message message
	packed  bytes.Reader
}

var intakes = sync.Pool{New: func() any { return new(intake) }}

// admit opens the account of a body. The intake must be closed.
func (o *operation) admit(ctx context.Context, announced int64) (*intake, error) {
	var admission Admission
	if o.Admit != nil {
		var err error
		if admission, err = o.Admit(ctx, principal.From(ctx), announced); err != nil {
			return nil, err
		}
	}
	in := intakes.Get().(*intake)
	in.admission, in.limit = admission, int(o.BodyLimit)
	return in, nil
}

// close gives back the memory of the body.
func (in *intake) close() {
	in.message.free()
	if in.admission != nil {
		in.admission.Release()
	}
	if cap(in.buf) > largestKept {
		in.buf = nil
	}
	in.packed.Reset(nil)
	in.req, in.admission, in.wire = Request{}, nil, wire{}
	intakes.Put(in)
}

// take pays for memory that is about to be used.
func (in *intake) take(n int) error {
	if in.admission == nil {
		return nil
	}
	return in.admission.Take(n)
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
	size := max(roundUp(n), smallestRead)
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
	return in.take(memory)
}

// unzip fills the buffer with what src decompresses to.
func (in *intake) unzip(src io.Reader) error {
	if in.zip == nil {
		in.zip = newUnzipper()
	}
	in.zip.reset(src)
	return in.fill(in.zip, -1)
}

// fill reads src to its end, or to one byte beyond the limit. Memory is asked
// for in powers of two: the body never has more than twice what has arrived or
// was announced, and copying as it grows stays below its own length.
func (in *intake) fill(src io.Reader, announced int) error {
	in.buf = in.buf[:0]
	for window := 0; ; {
		if len(in.buf) == window {
			next := min(max(2*window, roundUp(announced+1), smallestRead), in.limit+1)
			if err := in.take(next - window); err != nil {
				return err
			}
			in.grow(next)
			window = next
		}
		n, err := src.Read(in.buf[len(in.buf):window])
		in.buf = in.buf[:len(in.buf)+n]
		switch {
		case len(in.buf) > in.limit:
			return in.tooLarge()
		case errors.Is(err, io.EOF):
			in.req.Body = in.buf
			return nil
		case err != nil:
			return unreadable(err)
		}
	}
}

// grow gives the buffer room for n bytes and keeps its content.
func (in *intake) grow(n int) {
	if cap(in.buf) < n {
		in.buf = append(make([]byte, 0, n), in.buf...)
	}
}

// roundUp is the least power of two that is not below n.
func roundUp(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

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
