package span

import (
	"bytes"
	"slices"

	"github.com/assayhq/assay/internal/telemetry/span/payload"
)

// KeyMetadata is the attribute that holds the metadata of a span as an object;
// that of a root describes the trace.
const KeyMetadata = "metadata"

// metadata is one member of the metadata that a convention sends name by name.
type metadata struct{ key, text []byte }

// maxMetadata is how many members metadata has.
const maxMetadata = 64

// describe collects a member of the trace's metadata. It stays an attribute too.
func (r *Record) describe(key []byte, v *value) {
	k := r.meaning()
	if len(key) == 0 || len(key) > maxLabel || len(k.metadata) >= maxMetadata {
		return
	}
	if v.kind == valueText && len(v.text) > 0 && (v.text[0] == '"' || v.text[0] == '{' || v.text[0] == '[') && payload.Valid(v.text) {
		k.metadata = append(k.metadata, metadata{key, v.text}) // Langfuse sends every member as JSON
		return
	}
	b, err := appendValue(r.scratch.open(), v, 0)
	if err != nil {
		return // the attribute's own path reports it
	}
	k.metadata = append(k.metadata, metadata{key, r.scratch.close(b)})
}

// finishMetadata writes what was collected as one object. Only the root speaks
// for the trace, or the span with which the trace enters a process, since its
// root may never come.
func (r *Record) finishMetadata(k *meaning) {
	if len(k.metadata) == 0 || len(r.Attributes) >= maxAttributes || r.has(KeyMetadata) {
		return
	}
	if r.ParentID != (ID{}) && r.Kind != KindServer && r.Kind != KindConsumer && !r.has(KeyRemoteParent) {
		return
	}
	slices.SortStableFunc(k.metadata, func(a, b metadata) int { return bytes.Compare(a.key, b.key) })
	k.metadata = slices.CompactFunc(k.metadata, func(a, b metadata) bool { return bytes.Equal(a.key, b.key) })
	b := append(r.scratch.open(), '{')
	for i, m := range k.metadata {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(AppendJSONString(b, m.key), ':'), m.text...)
	}
	r.Attributes = append(r.Attributes, Attribute{Key: keyMetadata, Value: r.scratch.close(append(b, '}')), JSON: true})
}

// has reports whether the span has an attribute.
func (r *Record) has(key string) bool {
	return slices.ContainsFunc(r.Attributes, func(a Attribute) bool { return string(a.Key) == key })
}

var keyMetadata = []byte(KeyMetadata)

// liftObject keeps an object that was sent as a text as the object that it is. It
// may name the user and the conversation.
func (r *Record) liftObject(key []byte, v *value) bool {
	if v.kind != valueText {
		return false
	}
	if at := payload.SkipSpace(v.text, 0); at >= len(v.text) || v.text[at] != '{' || !payload.Valid(v.text) {
		return false
	}
	r.Attributes = append(r.Attributes, Attribute{Key: key, Value: v.text, JSON: true})
	for w := payload.Walk(v.text, payload.SkipSpace(v.text, 0)); w.Next(); w.Skip() {
		if v.text[w.At] != '"' {
			continue
		}
		raw := v.text[w.At+1 : payload.StringEnd(v.text, w.At)-1]
		if bytes.IndexByte(raw, '\\') < 0 {
			r.liftMetadata(fromAnybody, w.Key, &value{kind: valueText, text: raw})
		}
	}
	return true
}
