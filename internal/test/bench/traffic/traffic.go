// Package traffic makes the telemetry that the benches send: OTLP requests of
// two shapes, the same ones for the same seed.
//
// Narrow spans are what a busy service sends: ten short attributes and nothing
// that people wrote. Agent spans carry conversations: every call of a model
// repeats what was said before it, about 30 KB of JSON. Their words are as
// unevenly frequent as those of a language and their data has ids, prices and
// times, so they compress about as well as real ones.
package traffic

import (
	"cmp"
	"encoding/binary"
	"time"
)

// Options say what is made.
type Options struct {
	// Seed makes it reproducible: two sources with one seed make the same.
	Seed uint64
	// From is when the first trace starts. Traces many start within Over, one
	// after the other; then it begins again. None is 100,000.
	From   time.Time
	Over   time.Duration
	Traces int
}

// Request is the body of one ExportTraceServiceRequest and what is in it.
type Request struct {
	Body  []byte
	Spans int
	// Models is how many of the spans are calls of a model that carry a
	// conversation, and Payload the bytes of JSON that they carry.
	Models, Payload int
	// Traces are the ids of its traces, all of whose spans are in it.
	Traces [][16]byte
}

// Source makes requests one after the other.
type Source struct {
	opts  Options
	write *writer
	trace func(*Source, *Request, []byte) []byte
	span  span
	apps  []*app
	seen  int
}

const defaultTraces = 100_000

// Narrow makes traces of ten spans with ten short attributes each.
func Narrow(o Options) *Source {
	return &Source{opts: o, write: newWriter(o.Seed, 1), trace: (*Source).narrowTrace}
}

// Agent makes traces of one conversation each: twelve calls of a model and the
// calls of tools between them.
func Agent(o Options) *Source {
	s := &Source{opts: o, write: newWriter(o.Seed, 2), trace: (*Source).agentTrace}
	for range 6 {
		s.apps = append(s.apps, newApp(s.write))
	}
	return s
}

// Next makes a request of whole traces with at least so many spans. They are of
// one process: its resource stands once.
func (s *Source) Next(spans int) Request {
	var r Request
	r.Body = message(nil, fieldResourceSpans, func(b []byte) []byte {
		b = s.resource(b)
		return message(b, fieldScopeSpans, func(b []byte) []byte {
			for r.Spans < spans {
				b = s.trace(s, &r, b)
			}
			return b
		})
	})
	return r
}

// Requests makes n requests.
func (s *Source) Requests(n, spans int) []Request {
	all := make([]Request, n)
	for i := range all {
		all[i] = s.Next(spans)
	}
	return all
}

// resource describes one of the processes that send.
func (s *Source) resource(b []byte) []byte {
	w := s.write
	var r span
	r.text("service.name", w.pick("checkout", "support-bot", "search", "billing", "assistant", "catalog"))
	r.text("service.version", "1."+string(w.digits(nil, 2))+".0")
	r.text("deployment.environment.name", w.pick("production", "production", "production", "staging"))
	r.text("service.instance.id", "i-"+string(w.hex(nil, 8)))
	r.text("telemetry.sdk.name", "opentelemetry")
	r.text("telemetry.sdk.language", w.pick("python", "nodejs", "go"))
	return message(b, fieldResource, func(b []byte) []byte {
		// A resource keeps its attributes in field 1, a span in another.
		for rest := r.attrs; len(rest) > 0; {
			_, tagSize := binary.Uvarint(rest)
			n, size := binary.Uvarint(rest[tagSize:])
			from := tagSize + size
			b = appendText(b, 1, rest[from:from+int(n)])
			rest = rest[from+int(n):]
		}
		return b
	})
}

// begin starts a trace: its id, and when.
func (s *Source) begin(r *Request) (id [16]byte, at time.Time) {
	w := s.write
	binary.BigEndian.PutUint64(id[:8], w.rand.Uint64())
	binary.BigEndian.PutUint64(id[8:], w.rand.Uint64()|1)
	n := cmp.Or(s.opts.Traces, defaultTraces)
	at = s.opts.From.Add(time.Duration(float64(s.opts.Over) * float64(s.seen%n) / float64(n))).
		Add(time.Duration(w.rand.IntN(1_000_000)) * time.Microsecond)
	s.seen++
	r.Traces = append(r.Traces, id)
	return id, at
}

// next makes the span that is being written the next one of a trace.
func (s *Source) next(trace [16]byte, parent [8]byte, name string, kind int, start time.Time, took time.Duration) *span {
	p := &s.span
	p.reset()
	p.trace, p.parent, p.name, p.kind, p.start, p.end = trace, parent, name, kind, start, start.Add(took)
	binary.BigEndian.PutUint64(p.id[:], s.write.rand.Uint64()|1)
	return p
}

// end writes the span.
func (s *Source) end(r *Request, b []byte) []byte {
	r.Spans++
	return s.span.appendTo(b)
}
