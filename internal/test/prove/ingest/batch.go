package ingest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

const (
	// batchSpans is how many spans a batch has, in traces of traceSpans.
	batchSpans = 50
	traceSpans = 10
)

// batch is what one request carries. Everything in it follows from its number,
// its sender and its time, so the oracle needs to note no more.
type batch struct {
	salt   uint64 // of the load, first half of every trace id
	sender uint16
	number uint32
	start  time.Time
	// ahead is how far the sender's clock runs before ours.
	ahead time.Duration
	spans int
	// text is how much of a conversation every other span carries, in bytes.
	text int
}

// spanID is unique in a load and never zero.
func (b batch) spanID(i int) uint64 {
	return uint64(b.sender)<<48 | uint64(b.number)<<16 | uint64(i+1)
}

// fromSpanID tells which span of which batch an id is of.
func fromSpanID(id uint64) (sender uint16, number uint32, index int) {
	return uint16(id >> 48), uint32(id >> 16), int(id&0xffff) - 1
}

func (b batch) traceID(i int) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], b.salt)
	binary.BigEndian.PutUint64(id[8:], uint64(b.sender)<<48|uint64(b.number)<<16|uint64(i/traceSpans+1))
	return id
}

// tokens are what the span with an id claims to have used.
func tokens(id uint64) (input, output uint32) {
	x := id * 0x9e3779b97f4a7c15
	return uint32(x>>40)%1000 + 1, uint32(x>>50)%500 + 1
}

// hasText tells whether the i-th span carries a conversation, which is kept in
// a table of its own.
func hasText(i int) bool { return i%2 == 1 }

// encode makes the body of an ExportTraceServiceRequest.
func (b batch) encode() ([]byte, error) {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "prove")
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	spans.EnsureCapacity(b.spans)
	for i := range b.spans {
		s := spans.AppendEmpty()
		id := b.spanID(i)
		var spanID, parent [8]byte
		binary.BigEndian.PutUint64(spanID[:], id)
		s.SetSpanID(spanID)
		s.SetTraceID(b.traceID(i))
		if i%traceSpans > 0 {
			binary.BigEndian.PutUint64(parent[:], b.spanID(i-i%traceSpans))
			s.SetParentSpanID(parent)
		}
		s.SetName("chat prove-1")
		s.SetKind(ptrace.SpanKindClient)
		at := b.start.Add(b.ahead + time.Duration(i)*time.Millisecond)
		s.SetStartTimestamp(pcommon.NewTimestampFromTime(at))
		s.SetEndTimestamp(pcommon.NewTimestampFromTime(at.Add(5 * time.Millisecond)))
		input, output := tokens(id)
		a := s.Attributes()
		a.PutStr("gen_ai.operation.name", "chat")
		a.PutStr("gen_ai.request.model", "prove-1")
		a.PutInt("gen_ai.usage.input_tokens", int64(input))
		a.PutInt("gen_ai.usage.output_tokens", int64(output))
		if hasText(i) {
			a.PutStr("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"`+text(id, b.text)+`"}]}]`)
		}
	}
	return ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
}

// text is n letters: short ones are words, long ones look like a file in
// base64.
func text(seed uint64, n int) string {
	out := make([]byte, n)
	for i, x := 0, seed|1; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = 'a' + byte(x>>32)&15
		if n < 1000 && x>>40&7 == 0 {
			out[i] = ' '
		}
	}
	return string(out)
}

// readBack is the query that counts the spans of the batch that can be read.
func (b batch) readBack(org string) string {
	var ids []byte
	for i := 0; i < b.spans; i += traceSpans {
		id := b.traceID(i)
		ids = append(append(append(ids, "unhex('"...), hex.EncodeToString(id[:])...), "'),"...)
	}
	return fmt.Sprintf("SELECT uniqExact(span_id) FROM spans WHERE org_id = '%s' AND trace_id IN (%s) AND start_time >= fromUnixTimestamp64Micro(%d)",
		org, ids[:len(ids)-1], b.start.UnixMicro())
}
