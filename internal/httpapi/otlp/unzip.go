package otlp

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// unzipper reads what one or more members of gzip decompress to. It is for use
// over and over. Where a body may end it decides itself: the library takes an
// end within a header for the end of the body.
type unzipper struct {
	src    *bufio.Reader
	zip    gzip.Reader
	within bool // a member
}

func newUnzipper() *unzipper { return &unzipper{src: bufio.NewReaderSize(nil, 16<<10)} }

func (u *unzipper) reset(src io.Reader) {
	u.src.Reset(src)
	u.within = false
}

func (u *unzipper) Read(p []byte) (int, error) {
	if !u.within {
		if err := u.next(); err != nil {
			return 0, err
		}
	}
	n, err := u.zip.Read(p)
	if errors.Is(err, io.EOF) {
		u.within, err = false, nil
	}
	return n, err
}

// next begins a member, or returns io.EOF if there is none.
func (u *unzipper) next() error {
	if _, err := u.src.Peek(1); err != nil {
		return err
	}
	switch err := u.zip.Reset(u.src); {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	u.zip.Multistream(false)
	u.within = true
	return nil
}
