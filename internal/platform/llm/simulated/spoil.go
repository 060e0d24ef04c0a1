package simulated

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// truncate promises the whole body, sends half and ends the connection.
func truncate(w http.ResponseWriter, _ *http.Request, _ Rule, body []byte) {
	w.Header().Set("Content-Type", contentType(w))
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body[:len(body)/2])
	flush(w)
	panic(http.ErrAbortHandler)
}

// drip sends the body in pieces of 16 bytes, with a pause before each.
func drip(w http.ResponseWriter, r *http.Request, rule Rule, body []byte) {
	pause := rule.Pause
	if pause == 0 {
		pause = 10 * time.Millisecond
	}
	w.Header().Set("Content-Type", contentType(w))
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	for len(body) > 0 {
		if !wait(r.Context(), pause) {
			return
		}
		n := min(len(body), 16)
		if _, err := w.Write(body[:n]); err != nil {
			return
		}
		flush(w)
		body = body[n:]
	}
}

// endless sends a body that no limit allows. It ends when the caller does, and
// at the latest after what would fill the memory of one that has no limit.
func endless(w http.ResponseWriter, r *http.Request, _ Rule, _ []byte) {
	const most = 256 << 20
	w.Header().Set("Content-Type", contentType(w))
	piece := bytes.Repeat([]byte("more "), 16<<10)
	if _, err := w.Write([]byte(`{"id":"`)); err != nil {
		return
	}
	for sent := 0; sent < most && r.Context().Err() == nil; sent += len(piece) {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
