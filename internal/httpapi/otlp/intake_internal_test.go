package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// purse is an account without a bottom.
type purse struct{ taken int }

func (p *purse) Take(n int) error { p.taken += n; return nil }
func (*purse) Close()             {}

func (*purse) Work(ctx context.Context, task func(pause func() error) error) error {
	return task(ctx.Err)
}

// FuzzIntake reads whatever is sent as a body: what another decompressor reads
// is read alike, and nothing is held that was not paid for or is above the
// limit.
func FuzzIntake(f *testing.F) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write(make([]byte, 5000))
	require.NoError(f, err)
	require.NoError(f, w.Close())
	f.Add(z.Bytes(), true, 4000, 7)
	f.Add(z.Bytes(), true, 6000, 100)
	f.Add(append(bytes.Clone(z.Bytes()), z.Bytes()...), true, 20000, 1)
	f.Add(z.Bytes()[:20], true, 100, 3)
	f.Add([]byte("plain"), false, 5, 2)
	f.Add([]byte("plain"), false, 4, 1)
	f.Fuzz(func(t *testing.T, sent []byte, zipped bool, limit, piece int) {
		if limit < 0 || limit > 1<<20 || piece < 1 {
			return
		}
		p := &purse{}
		in := &intake{limit: limit, account: p}
		err := in.readStream(pieces{bytes.NewReader(sent), piece}, zipped, -1)

		want, wantErr := sent, error(nil)
		if zipped && len(sent) > 0 {
			var z *gzip.Reader
			if z, wantErr = gzip.NewReader(bytes.NewReader(sent)); wantErr == nil {
				want, wantErr = io.ReadAll(io.LimitReader(z, int64(limit)+1))
			}
		}
		require.LessOrEqual(t, len(in.buf), limit+1)
		require.LessOrEqual(t, cap(in.buf), p.taken+1)
		switch {
		case len(sent) > limit && err != nil: // longer on the wire than it may become
		case wantErr == nil && len(want) <= limit:
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, in.req.Body))
			require.Equal(t, len(sent), in.req.WireBytes)
		default:
			require.Error(t, err)
		}
	})
}

// pieces is read a few bytes at a time.
type pieces struct {
	io.Reader
	most int
}

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), p.most)]) }
