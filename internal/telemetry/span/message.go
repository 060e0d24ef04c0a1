package span

import "slices"

// Some conventions flatten lists into attributes, one for every field of
// every element: llm.input_messages.3.message.content. They arrive in any
// order, so they are collected as parts, sorted once and then written as one
// JSON list.

// list is what flattened attributes and events are the parts of.
type list uint8

const (
	listInput list = iota
	listOutput
	listTools
	listDocuments
	listRerankInput
	listRerankOutput
	listEmbeddings
	listEventInput
	listEventOutput
	lists
)

// Limits of flattened lists. What is beyond stays an attribute.
const (
	maxIndex = 1 << 12
	maxParts = 1 << 14
)

// group is where in a message a part belongs.
type group uint8

const (
	groupFirst group = iota
	groupContents
	groupFunction
	groupCalls
	groupLast
)

// field is one field of a message, a part of its content, a call of a tool or
// an item of another list, in the order in which they are written.
type field uint8

const (
	fieldRaw field = iota // the whole element, as JSON
	fieldRole
	fieldID
	fieldType
	fieldName
	fieldDescription
	fieldToolCallID
	fieldContent
	fieldText
	fieldReasoning
	fieldRefusal
	fieldImage
	fieldAudio
	fieldAudioType
	fieldTranscript
	fieldVideo
	fieldSignature
	fieldData
	fieldEncrypted
	fieldArguments
	fieldParameters
	fieldSchema
	fieldScore
	fieldMetadata
	fieldVector
	fieldFinish
)

// member is how a field is written.
var member = [...]string{
	fieldRole: `"role":`, fieldID: `"id":`, fieldType: `"type":`, fieldName: `"name":`, fieldDescription: `"description":`,
	fieldToolCallID: `"tool_call_id":`, fieldContent: `"content":`, fieldText: `"text":`, fieldReasoning: `"reasoning":`,
	fieldRefusal: `"refusal":`, fieldImage: `"image_url":`, fieldAudio: `"audio_url":`, fieldAudioType: `"audio_mime_type":`,
	fieldTranscript: `"transcript":`, fieldVideo: `"video_url":`, fieldSignature: `"signature":`, fieldData: `"data":`,
	fieldEncrypted: `"encrypted_content":`, fieldArguments: `"arguments":`, fieldParameters: `"parameters":`,
	fieldSchema: `"json_schema":`, fieldScore: `"score":`, fieldMetadata: `"metadata":`, fieldVector: `"vector":`,
	fieldFinish: `"finish_reason":`,
}

// part is one field of one element of one list. From the highest bits: list,
// element, group, inner element, field, and the number of its text, which
// grows, so that sorting keeps the order of arrival.
type part uint64

const (
	textBits   = 14
	fieldShift = textBits
	innerShift = fieldShift + 6
	groupShift = innerShift + 12
	indexShift = groupShift + 3
	listShift  = indexShift + 12
)

func (p part) index() int   { return int(p>>indexShift) & (maxIndex - 1) }
func (p part) group() group { return group(p>>groupShift) & 7 }
func (p part) inner() int   { return int(p>>innerShift) & (maxIndex - 1) }
func (p part) field() field { return field(p>>fieldShift) & 63 }
func (p part) text() int    { return int(p) & (maxParts - 1) }

// partText is what a part says.
type partText struct {
	text []byte
	json bool // text is JSON already
}

// part collects one; false if there are too many or it cannot be read.
func (r *Record) part(l list, index int, g group, inner int, f field, v *value) bool {
	k := r.meaning()
	if len(k.parts) >= maxParts {
		return false
	}
	text, json, ok := r.sent(v)
	if !ok && v.kind != valueText {
		return false
	}
	k.addPart(part(l)<<listShift|part(index)<<indexShift|part(g)<<groupShift|part(inner)<<innerShift|part(f)<<fieldShift, text, json)
	return true
}

func (k *meaning) addPart(p part, text []byte, json bool) {
	k.parts = append(k.parts, p|part(len(k.texts)))
	k.texts = append(k.texts, partText{text, json})
}

// index cuts the number off a flattened name.
func index(name []byte) (n int, rest []byte, ok bool) {
	i := 0
	for ; i < len(name) && name[i] >= '0' && name[i] <= '9'; i++ {
		if n = n*10 + int(name[i]-'0'); n >= maxIndex {
			return 0, nil, false
		}
	}
	if i == 0 || i >= len(name)-1 || name[i] != '.' {
		return 0, nil, false
	}
	return n, name[i+1:], true
}

// liftMessage reads a field of a flattened message: "0.message.content" in
// OpenInference, "0.content" in OpenLLMetry.
func (r *Record) liftMessage(l list, name []byte, v *value) bool {
	n, name, ok := index(name)
	if !ok {
		return false
	}
	if hasPrefix(name, "message.") {
		name = name[len("message."):]
	}
	g := groupFirst
	var f field
	switch string(name) {
	case "role":
		f = fieldRole
	case "content", "prompt.text", "completion.text":
		f = fieldContent
	case "name":
		f = fieldName
	case "tool_call_id":
		f = fieldToolCallID
	case "reasoning", "reasoning_content":
		f = fieldReasoning
	case "refusal":
		f = fieldRefusal
	case "function_call_name", "function_call.name":
		g, f = groupFunction, fieldName
	case "function_call_arguments_json", "function_call.arguments":
		g, f = groupFunction, fieldArguments
	case "finish_reason":
		g, f = groupLast, fieldFinish
	default:
		switch {
		case hasPrefix(name, "contents."):
			return r.liftContent(l, n, name[len("contents."):], v)
		case hasPrefix(name, "tool_calls."):
			return r.liftCall(l, n, name[len("tool_calls."):], v)
		}
		return false
	}
	return r.part(l, n, g, 0, f, v)
}

// liftContent reads a field of one part of a message's content.
func (r *Record) liftContent(l list, n int, name []byte, v *value) bool {
	m, name, ok := index(name)
	if !ok || !hasPrefix(name, "message_content.") {
		return false
	}
	var f field
	switch string(name[len("message_content."):]) {
	case "type":
		f = fieldType
	case "text":
		f = fieldText
	case "id":
		f = fieldID
	case "image.image.url":
		f = fieldImage
	case "audio.audio.url":
		f = fieldAudio
	case "audio.audio.mime_type":
		f = fieldAudioType
	case "audio.audio.transcript":
		f = fieldTranscript
	case "video.video.url":
		f = fieldVideo
	case "signature":
		f = fieldSignature
	case "data":
		f = fieldData
	case "encrypted_content":
		f = fieldEncrypted
	default:
		return false
	}
	return r.part(l, n, groupContents, m, f, v)
}

// liftCall reads a field of one call of a tool.
func (r *Record) liftCall(l list, n int, name []byte, v *value) bool {
	m, name, ok := index(name)
	if !ok {
		return false
	}
	if hasPrefix(name, "tool_call.") {
		name = name[len("tool_call."):]
	}
	var f field
	switch string(name) {
	case "id":
		f = fieldID
	case "name", "function.name":
		f = fieldName
	case "arguments", "function.arguments":
		f = fieldArguments
	default:
		return false
	}
	return r.part(l, n, groupCalls, m, f, v)
}

// liftItem reads a field of an element that is no message.
func (r *Record) liftItem(l list, name []byte, prefix string, v *value) bool {
	n, name, ok := index(name)
	if !ok || !hasPrefix(name, prefix) {
		return false
	}
	var f field
	switch string(name[len(prefix):]) {
	case "id":
		f = fieldID
	case "name":
		f = fieldName
	case "description":
		f = fieldDescription
	case "content":
		f = fieldContent
	case "text":
		f = fieldText
	case "score":
		f = fieldScore
	case "metadata":
		f = fieldMetadata
	case "json_schema":
		f = fieldSchema
	case "parameters":
		f = fieldParameters
	case "vector":
		f = fieldVector
	default:
		return false
	}
	return r.part(l, n, groupFirst, 0, f, v)
}

// sortParts brings the parts into the order in which they are written, and
// drops those that say again what was said.
func (k *meaning) sortParts() {
	slices.Sort(k.parts)
	k.parts = slices.CompactFunc(k.parts, func(a, b part) bool { return a>>textBits == b>>textBits })
}

// partsOf are the sorted parts of a list.
func (k *meaning) partsOf(l list) []part {
	from, _ := slices.BinarySearch(k.parts, part(l)<<listShift)
	to, _ := slices.BinarySearch(k.parts, part(l+1)<<listShift)
	return k.parts[from:to]
}
