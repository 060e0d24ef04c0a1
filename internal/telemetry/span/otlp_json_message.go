package span

// jsonMessage is the fields of a message by their names in JSON.
type jsonMessage struct {
	fields map[string]jsonField
	// ids are fields that are written empty where they are missing, so that a
	// decoder sees that nothing is in them.
	ids []uint32
}

// jsonField is a field, its number and its form.
type jsonField struct {
	num     uint32
	form    jsonForm
	size    int              // of an id
	names   map[string]int32 // of the values of an enumeration
	message *jsonMessage
}

type jsonForm uint8

const (
	jsonText jsonForm = iota
	jsonBase64
	jsonID
	jsonFixed64
	jsonFixed32
	jsonInt64
	jsonDouble
	jsonBool
	jsonEnum
	jsonOne  // a message
	jsonMany // a list of messages
)

// The messages, as far as they are read.
var tracesJSON, logsJSON = func() (traces, logs *jsonMessage) {
	value, list, pairs, pair := &jsonMessage{}, &jsonMessage{}, &jsonMessage{}, &jsonMessage{}
	attributes := func(num uint32) jsonField { return jsonField{num: num, form: jsonMany, message: pair} }
	list.fields = map[string]jsonField{"values": {num: 1, form: jsonMany, message: value}}
	pairs.fields = map[string]jsonField{"values": attributes(1)}
	pair.fields = map[string]jsonField{"key": {num: 1}, "value": {num: 2, form: jsonOne, message: value}}
	value.fields = both(map[string]jsonField{
		"string_value": {num: 1}, "bool_value": {num: 2, form: jsonBool}, "int_value": {num: 3, form: jsonInt64}, "double_value": {num: 4, form: jsonDouble},
		"array_value": {num: 5, form: jsonOne, message: list}, "kvlist_value": {num: 6, form: jsonOne, message: pairs}, "bytes_value": {num: 7, form: jsonBase64},
	})
	traceID := func(num uint32) jsonField { return jsonField{num: num, form: jsonID, size: len(TraceID{})} }
	spanID := func(num uint32) jsonField { return jsonField{num: num, form: jsonID, size: len(ID{})} }
	status := &jsonMessage{fields: map[string]jsonField{
		"message": {num: 2}, "code": {num: 3, form: jsonEnum, names: map[string]int32{"STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}},
	}}
	event := &jsonMessage{fields: both(map[string]jsonField{
		"time_unix_nano": {num: 1, form: jsonFixed64}, "name": {num: 2}, "attributes": attributes(3),
	})}
	link := &jsonMessage{fields: both(map[string]jsonField{"trace_id": traceID(1), "span_id": spanID(2), "attributes": attributes(4)})}
	span := &jsonMessage{ids: []uint32{1, 2}, fields: both(map[string]jsonField{
		"trace_id": traceID(1), "span_id": spanID(2), "parent_span_id": spanID(4), "name": {num: 5},
		"kind": {num: 6, form: jsonEnum, names: map[string]int32{
			"SPAN_KIND_UNSPECIFIED": 0, "SPAN_KIND_INTERNAL": 1, "SPAN_KIND_SERVER": 2, "SPAN_KIND_CLIENT": 3, "SPAN_KIND_PRODUCER": 4, "SPAN_KIND_CONSUMER": 5,
		}},
		"start_time_unix_nano": {num: 7, form: jsonFixed64}, "end_time_unix_nano": {num: 8, form: jsonFixed64}, "attributes": attributes(9),
		"events": {num: 11, form: jsonMany, message: event}, "links": {num: 13, form: jsonMany, message: link}, "status": {num: 15, form: jsonOne, message: status},
		"flags": {num: 16, form: jsonFixed32},
	})}
	record := &jsonMessage{fields: both(map[string]jsonField{
		"time_unix_nano": {num: 1, form: jsonFixed64}, "severity_text": {num: 3}, "body": {num: 5, form: jsonOne, message: value}, "attributes": attributes(6),
		"trace_id": traceID(9), "span_id": spanID(10), "observed_time_unix_nano": {num: 11, form: jsonFixed64}, "event_name": {num: 12},
	})}
	resource := &jsonMessage{fields: map[string]jsonField{"attributes": attributes(1)}}
	request := func(resources, scopes, records string, of *jsonMessage) *jsonMessage {
		many := func(num uint32, name string, of *jsonMessage) *jsonMessage {
			return &jsonMessage{fields: both(map[string]jsonField{name: {num: num, form: jsonMany, message: of}})}
		}
		group := many(2, scopes, many(2, records, of))
		group.fields["resource"] = jsonField{num: 1, form: jsonOne, message: resource}
		return many(1, resources, group)
	}
	return request("resource_spans", "scope_spans", "spans", span), request("resource_logs", "scope_logs", "log_records", record)
}()

// both adds the names in camel case, which most senders use.
func both(fields map[string]jsonField) map[string]jsonField {
	out := make(map[string]jsonField, 2*len(fields))
	for name, f := range fields {
		out[name] = f
		camel := make([]byte, 0, len(name))
		for i := 0; i < len(name); i++ {
			if name[i] == '_' {
				i++
				camel = append(camel, name[i]-('a'-'A'))
				continue
			}
			camel = append(camel, name[i])
		}
		out[string(camel)] = f
	}
	return out
}
