package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/core/request"
)

// Stream is the output of an operation whose body is written while it is made.
type Stream = huma.StreamResponse

// Sealed is the content security policy of a file that callers wrote parts of: it
// lets a browser show the file and nothing more, with no script, no request, no
// frame, and an origin of its own.
const Sealed = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

// NewStream answers 200 with the headers and with what write writes. If write
// fails, the connection is cut, so that the caller sees that the body is not
// whole; it is cut too when the caller's key ends. What can fail before the first
// byte belongs before NewStream, where it is answered like any other error.
func NewStream(ctx context.Context, headers map[string]string, write func(io.Writer) error) *Stream {
	return &Stream{Body: func(out huma.Context) {
		for name, value := range headers {
			out.SetHeader(name, value)
		}
		out.SetStatus(http.StatusOK)
		if err := write(&guarded{Writer: out.BodyWriter(), ctx: ctx, asked: time.Now()}); err != nil {
			if info := request.From(ctx); ctx.Err() == nil { // a caller that leaves is nothing to warn of
				slog.WarnContext(ctx, "stream is cut off", "request_id", info.ID, "operation", info.Operation, "error", err)
			}
			panic(http.ErrAbortHandler)
		}
	}}
}
