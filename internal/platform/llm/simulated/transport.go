package simulated

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
)

// Local calls a handler in the process, without a network. It is a
// http.RoundTripper, and what an llm.Client goes out with.
//
// The answer comes when the handler is done with it, so that an answer that
// drips comes late and in one piece. Everything else is as over a connection: a
// handler sees the caller leave, and a body that breaks off does so.
type Local struct{ handler http.Handler }

// Transport makes a handler callable in the process.
func Transport(h http.Handler) *Local { return &Local{h} }

// maxLocal bounds the memory of an answer without end.
const maxLocal = 8 << 20

// RoundTrip calls the handler.
func (l *Local) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.WithContext(r.Context()) // a copy, as a server would have
	in.Header = make(http.Header, len(r.Header))
	for name, values := range r.Header {
		in.Header[textproto.CanonicalMIMEHeaderKey(name)] = values
	}
	in.RequestURI, in.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:0"
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer func() { _ = in.Body.Close() }()
	w := &recorder{header: http.Header{}}
	whole := w.serve(l.handler, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if !whole && w.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return w.response(r, whole), nil
}

// Do is RoundTrip.
func (l *Local) Do(r *http.Request) (*http.Response, error) { return l.RoundTrip(r) }

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// serve reports whether the handler went to its end.
func (w *recorder) serve(h http.Handler, r *http.Request) (whole bool) {
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
		}
	}()
	h.ServeHTTP(w, r)
	return true
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

var errEnough = errors.New("the answer is longer than a local call carries")

func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.body.Len() > maxLocal {
		return 0, errEnough
	}
	return w.body.Write(p)
}

func (w *recorder) response(r *http.Request, whole bool) *http.Response {
	w.WriteHeader(http.StatusOK)
	size := int64(w.body.Len())
	body := io.Reader(&w.body)
	if promised, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil && promised > size {
		whole, size = false, promised
	}
	if !whole {
		body = io.MultiReader(body, broken{})
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(body), ContentLength: size, Request: r,
	}
}

// broken is a body where the connection ends.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
