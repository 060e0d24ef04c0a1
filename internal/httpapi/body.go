package httpapi

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/assayhq/assay/internal/fault"
)

// Body limits, counted after decompression.
const (
	DefaultBodyLimit = 1 << 20
	LargeBodyLimit   = 32 << 20 // ingest and import
)

// readBody returns the decompressed body, or the fault that refuses it. It
// never holds more than limit+1 bytes, however well the body was compressed.
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
		src = io.LimitReader(z, limit+1)
	default:
		return nil, errMediaType.With("contentEncoding", "only gzip is taken")
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(min(r.ContentLength, limit)) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(src); err != nil {
		return nil, bodyError(err)
	}
	if int64(buf.Len()) > limit {
		return nil, TooLarge(limit)
	}
	if buf.Len() > 0 && !isJSON(r.Header.Get("Content-Type")) {
		return nil, errMediaType
	}
	return buf.Bytes(), nil
}

func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
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
