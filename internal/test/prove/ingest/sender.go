package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// sender posts batches the way an OpenTelemetry exporter does: it repeats what
// was refused for the moment, with the same spans, and waits as long as it is
// told to.
type sender struct {
	load   *load
	oracle *oracle
	id     uint16
	index  int
	org    rig.Organization
	next   uint32
}

// A sender begins with a shorter pause than real exporters do, so that many
// faults fit into a minute.
const (
	firstPause = 50 * time.Millisecond
	longPause  = time.Second
	// exporterTimeout is the time-out of most exporters.
	exporterTimeout = 10 * time.Second
)

func (s *sender) run(ctx context.Context) {
	for rig.Sleep(ctx, s.load.pace) == nil {
		b := s.batch(batchSpans, 400)
		if s.load.ahead > 0 && b.number%16 == 0 {
			b.ahead = s.load.ahead
		}
		body, err := b.encode()
		if err != nil {
			s.load.complain(err.Error())
			return
		}
		if err := s.oracle.intend(b); err != nil {
			s.load.complain(err.Error())
			return
		}
		s.send(ctx, b, body)
	}
}

// batch is the next one.
func (s *sender) batch(spans, text int) batch {
	b := batch{salt: s.load.salt, sender: s.id, number: s.next, start: time.Now().Truncate(time.Microsecond), spans: spans, text: text}
	s.next++
	return b
}

// send posts a batch until it is acknowledged. When the load ends it is still
// seen through, within reason.
func (s *sender) send(ctx context.Context, b batch, body []byte) {
	var limit time.Time
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		epoch := s.load.epoch.Load()
		a := s.post(context.WithoutCancel(ctx), body)
		switch {
		case a.acked:
			s.acknowledged(ctx, b, a, epoch)
			return
		case a.final:
			return
		}
		if ctx.Err() != nil {
			if limit.IsZero() {
				limit = time.Now().Add(patience / 2)
			} else if time.Now().After(limit) {
				return // never acknowledged, so nothing is promised
			}
		}
		time.Sleep(max(a.retryAfter, pause/2+rand.N(pause)))
	}
}

// answer is what became of one request.
type answer struct {
	began      time.Time
	acked      bool
	deferred   bool
	final      bool // no exporter would send it again
	retryAfter time.Duration
}

func (s *sender) post(ctx context.Context, body []byte) answer {
	l := s.load
	a := answer{began: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, exporterTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.s.URL+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		l.complain(err.Error())
		return answer{final: true}
	}
	req.Header.Set("Authorization", "Bearer "+s.org.Key)
	req.Header.Set("Content-Type", "application/x-protobuf")
	res, err := l.s.client.Do(req)
	if err != nil {
		return a // a connection that broke says nothing
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return a
	}
	switch res.StatusCode {
	case http.StatusOK:
		a.acked, a.deferred = true, res.Header.Get("X-Ingest") == "deferred"
		said := ptraceotlp.NewExportResponse()
		if err := said.UnmarshalProto(text); err != nil {
			l.complain(fmt.Sprintf("200 with an answer that cannot be read: %q", text))
		}
		// What is deferred comes with a warning; nothing else says a word.
		if warned := said.PartialSuccess().ErrorMessage() != ""; said.PartialSuccess().RejectedSpans() != 0 || warned != a.deferred {
			l.complain(fmt.Sprintf("200 with a partial success: %q", text))
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		l.refused.Add(1)
		seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if err != nil || seconds < 1 {
			l.unadvised.Add(1)
		}
		a.retryAfter = time.Duration(seconds) * time.Second
	case http.StatusBadGateway, http.StatusGatewayTimeout:
	default:
		l.complain(fmt.Sprintf("status %d: %q", res.StatusCode, text))
		a.final = true
	}
	return a
}

// acknowledged notes an acknowledgement and, for some, asks ClickHouse whether
// it was true.
func (s *sender) acknowledged(ctx context.Context, b batch, a answer, epoch int32) {
	l := s.load
	if err := s.oracle.tell(b, a.deferred, l.during.Load()); err != nil {
		l.complain(err.Error())
	}
	if since := l.closedSince.Load(); since != 0 && a.began.UnixNano() > since {
		l.lying.Add(int64(b.spans))
	}
	if a.deferred {
		l.spansDeferred.Add(int64(b.spans))
		return
	}
	l.spans.Add(int64(b.spans))
	fresh := s.index >= 0 && l.reached[s.index].Load() < epoch
	if !fresh && rand.IntN(l.sample) > 0 {
		return
	}
	missing, err := l.s.missing(context.WithoutCancel(ctx), b, s.org)
	if err != nil {
		l.complain("read back: " + err.Error())
		return
	}
	l.looks.Add(1)
	l.late.Add(int64(missing))
	if fresh {
		l.reached[s.index].Store(epoch)
	}
}
