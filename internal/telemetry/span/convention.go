package span

import (
	"strconv"

	"github.com/assayhq/assay/internal/telemetry/span/payload"
)

// convention is the memory that reading conventions needs. It is made when
// the first attribute with a known meaning arrives and reused ever after, so
// that a span that follows no convention costs nothing.
type convention struct{ meaning *meaning }

func (c *convention) reset() {
	if c.meaning != nil && c.meaning.used {
		c.meaning.reset()
	}
}

// meaning is what the attributes of one span have shown so far.
type meaning struct {
	used bool
	spanFacts
	payloads
	spanParts
	// kept outlives the span: it belongs to the resource.
	kept [keptFacts]override

	// shown makes texts of the payloads.
	shown payload.Texts
}

// spanFacts are the short facts that have no column of their own.
type spanFacts struct {
	// sources says for each fact how well its teller is believed.
	sources                [facts]source
	requestModel           []byte
	entity, node           []byte // what traceloop and OpenInference call the step
	environment, release   []byte // of this span, not of its resource
	function               []byte // what the program calls the operation
	promptCost, answerCost float64
	totalTokens            uint32
	firstTokenAt           int64 // microseconds since 1970
}

// payloads are the long texts; found is true if there is any.
type payloads struct {
	found                              bool
	input, output, system, tools       candidate
	replyText, replyObject, replyCalls candidate
	// What is worth keeping as input or output only if there is no other.
	traceInput, traceOutput, parameters, query, result candidate
	// outdone are inputs and outputs for which a more exact form was sent.
	outdone  [4]candidate
	outdones int
}

// spanParts are lists that arrive in pieces.
type spanParts struct {
	parts  []part
	texts  []partText
	counts [lists]uint16 // elements of the lists that events make
	// metadata is what the program says about the whole trace, name by name.
	metadata []metadata
	// moved counts the attributes of events that became the span's.
	moved int
}

// reset forgets the span. Most spans that tell anything tell facts only.
func (k *meaning) reset() {
	k.used = false
	k.spanFacts = spanFacts{}
	if k.found {
		k.payloads = payloads{}
	}
	if len(k.parts) > 0 || k.moved > 0 || len(k.metadata) > 0 {
		k.spanParts = spanParts{parts: k.parts[:0], texts: k.texts[:0], metadata: k.metadata[:0]}
	}
	k.shown.Reset()
}

// meaning is the span's memory, ready to be written to.
func (r *Record) meaning() *meaning {
	k := r.convention.meaning
	if k == nil {
		k = new(meaning)
		r.convention.meaning = k
	}
	k.used = true
	return k
}

// fact is something that several conventions tell under different names.
type fact uint8

const (
	factPrimitive fact = iota
	factModel
	factRequestModel
	factProvider
	factAgent
	factTool
	factConversation
	factUser
	factEnvironment
	factRelease
	factInputTokens
	factOutputTokens
	factTotalTokens
	factCachedTokens
	factCacheWriteTokens
	factReasoning
	factCost
	factFirstToken
	facts
)

// source is who tells a fact, from the least to the most believed: names that
// anybody may use, conventions by how exactly they define what they mean, and
// what is addressed to us.
type source uint8

const (
	noSource source = iota
	fromAnybody
	fromVercel
	fromTraceloop
	fromLangSmith
	fromOpenInference
	fromOlderGenAI
	fromGenAI
	fromLangfuse
	fromAssay
)

// maxLabel is the longest text that is taken for a name or an id; whatever is
// longer is something else and stays an attribute.
const maxLabel = 1024

// label keeps a short text that a better source has not given already. Ids
// that are sent as numbers become texts.
func (r *Record) label(f fact, from source, to *[]byte, v *value) {
	k := r.meaning()
	if k.sources[f] >= from {
		return
	}
	text := v.text
	switch v.kind {
	case valueText:
	case valueInt:
		text = r.scratch.close(strconv.AppendInt(r.scratch.open(), v.num, 10))
	default:
		return
	}
	if len(text) == 0 || len(text) > maxLabel {
		return
	}
	*to, k.sources[f] = text, from
}

// count keeps a number of tokens.
func (r *Record) count(f fact, from source, to *uint32, v *value) {
	k := r.meaning()
	if k.sources[f] >= from {
		return
	}
	if n, ok := v.uint32(); ok {
		*to, k.sources[f] = n, from
	}
}

// dollars keeps what the span cost.
func (r *Record) dollars(from source, v *value) {
	k := r.meaning()
	if k.sources[factCost] >= from {
		return
	}
	if f, ok := v.float(); ok && f >= 0 {
		r.Cost, r.CostSent, k.sources[factCost] = f, true, from
	}
}

// micros keeps how long the first token took; unit is the value's in
// microseconds.
func (r *Record) micros(from source, v *value, unit float64) {
	k := r.meaning()
	if k.sources[factFirstToken] >= from {
		return
	}
	if f, ok := v.float(); ok && f > 0 {
		r.FirstToken, k.sources[factFirstToken] = uint32(min(f*unit, 1<<32-1)), from
	}
}

// step keeps what kind of step the span is.
func (r *Record) step(from source, primitive string) {
	k := r.meaning()
	if primitive != "" && k.sources[factPrimitive] < from {
		r.Primitive, k.sources[factPrimitive] = primitive, from
	}
}

// candidate is a text that a span's input, output, instructions or tools are
// made of, with the attribute that it was sent as.
type candidate struct {
	key, text []byte
	json      bool
	form      form
}

// form is how a payload was sent, from the vaguest to the most exact. A span
// has one input and one output: of several forms of it the most exact is kept.
type form uint8

const (
	absent form = iota
	formElsewhere
	formWhole
	formEvents
	formOlder
	formFlat
	formVercel
	formGenAI
	formLangfuse
	formAssay
)

// take keeps a payload and reports that it needs no place among the
// attributes. A value that says nothing, or cannot be read, stays there. Of a
// model call the most exact form says everything that the others say; of other
// steps what it does not repeat becomes an attribute in the end.
func (r *Record) take(p *candidate, how form, key []byte, v *value) bool {
	text, json, ok := r.sent(v)
	if !ok {
		return false
	}
	k := r.meaning()
	k.found = true
	c := candidate{key: key, text: text, json: json, form: how}
	if p.form < how {
		*p, c = c, *p
	}
	k.outdo(c)
	return true
}

// outdo remembers a payload that another one takes the place of.
func (k *meaning) outdo(c candidate) {
	if c.form != absent && k.outdones < len(k.outdone) {
		k.outdone[k.outdones] = c
		k.outdones++
	}
}

// sent is a value as it is kept: a text as it is, anything else as JSON.
func (r *Record) sent(v *value) (text []byte, json, ok bool) {
	switch v.kind {
	case valueText:
		return v.text, false, len(v.text) > 0
	case valueEmpty:
		return nil, false, false
	default:
		b, err := appendValue(r.scratch.open(), v, 0)
		if err != nil {
			// The attribute's own path meets the same fault and reports it.
			return nil, false, false
		}
		return r.scratch.close(b), true, true
	}
}
