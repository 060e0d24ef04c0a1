package httpapi

import (
	"compress/gzip"
	"errors"
	"io"
	"math/bits"
	"mime"
	"net/http"
	"strings"

	"github.com/assayhq/assay/internal/core/fault"
)

// Body limits, counted after decompression.
const (
	DefaultBodyLimit = 1 << 20
	LargeBodyLimit   = 32 << 20 // ingest and import
)

// readBody returns the decompressed body, or the fault that refuses it. It
// never holds more than limit+1 bytes, however well the body was compressed, and
// takes from the request's account what it holds.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, TooLarge(limit)
	}
	var src io.Reader = io.LimitReader(r.Body, limit+1)
	switch enc := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); enc {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(src)
		if errors.Is(err, io.EOF) {
			return nil, nil // no body at all
		}
		if err != nil {
			return nil, bodyError(err)
		}
		defer func() { _ = z.Close() }()
		src = z
	default:
		return nil, errMediaType.With("contentEncoding", "only gzip is taken")
	}
	first := max(smallestRead, int(r.ContentLength)+1)
	body, err := Fill(nil, src, first, int(limit), Admitted(r.Context()).Take)
	switch {
	case err != nil:
		return nil, bodyError(err)
	case len(body) > 0 && !isJSON(r.Header.Get("Content-Type")):
		return nil, errMediaType
	}
	return body, nil
}

// smallestRead is what a body of unknown length starts with: nearly every one
// fits.
const smallestRead = 4 << 10

// Fill reads src to its end into the memory of buf and refuses what is longer
// than limit. Memory is asked for with take before it is used, in powers of two,
// beginning with the first: copying as the body grows stays below its own length.
func Fill(buf []byte, src io.Reader, first, limit int, take func(int) error) ([]byte, error) {
	buf = buf[:0]
	for window := 0; ; {
		if len(buf) == window {
			next := min(max(2*window, RoundUp(first)), limit+1)
			if err := take(min(next, limit) - window); err != nil { // what is beyond the limit is refused at once
				return buf, err
			}
			if cap(buf) < next {
				buf = append(make([]byte, 0, next), buf...)
			}
			window = next
		}
		n, err := src.Read(buf[len(buf):window])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > limit:
			return buf, TooLarge(int64(limit))
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

// RoundUp is the least power of two that is not below n.
func RoundUp(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	_, refused := fault.From(err)
	switch {
	case refused:
		return err
	case errors.As(err, &tooLarge):
		return errTooLarge
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return errInvalidJSON.WithFields(fault.Field{In: "header", Path: "Content-Encoding", Code: "format", Message: "the body is not the gzip that the header announces"})
	default:
		// Corrupt deflate data, an early end and a read time-out look the same
		// to the caller: what arrived is not a whole body.
		return errBodyCut
	}
}

// isJSON reports whether a body of this type is taken. A body without a type
// is read as JSON.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != "application/json" {
		return false
	}
	charset, ok := params["charset"]
	return !ok || strings.EqualFold(charset, "utf-8")
}
