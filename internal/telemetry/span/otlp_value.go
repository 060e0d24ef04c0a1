package span

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/VictoriaMetrics/easyproto"
)

// keyValue reads a KeyValue message.
func keyValue(src []byte) (key []byte, v value, err error) {
	var fc easyproto.FieldContext
	for len(src) > 0 {
		if src, err = fc.NextField(src); err != nil {
			return nil, v, errProtobuf
		}
		ok := true
		switch fc.FieldNum {
		case 1:
			key, ok = fc.Bytes()
		case 2:
			var data []byte
			if data, ok = fc.MessageData(); ok {
				if err = v.read(data); err != nil {
					return nil, v, err
				}
			}
		}
		if !ok {
			return nil, v, errProtobuf
		}
	}
	return key, v, nil
}

// read reads an AnyValue message that may have come in pieces, of which the last
// that says something counts.
func (v *value) read(src []byte) error {
	next, err := anyValue(src)
	if next.kind != valueEmpty {
		*v = next
	}
	return err
}

// anyValue reads an AnyValue message; lists and maps stay encoded.
func anyValue(src []byte) (v value, err error) {
	var fc easyproto.FieldContext
	for len(src) > 0 {
		if src, err = fc.NextField(src); err != nil {
			return v, errProtobuf
		}
		ok := true
		switch fc.FieldNum {
		case 1:
			v.kind = valueText
			v.text, ok = fc.Bytes()
		case 2:
			var b bool
			b, ok = fc.Bool()
			v.kind, v.num = valueBool, 0
			if b {
				v.num = 1
			}
		case 3:
			v.kind = valueInt
			v.num, ok = fc.Int64()
		case 4:
			v.kind = valueReal
			v.real, ok = fc.Double()
		case 5:
			v.kind = valueList
			v.text, ok = fc.MessageData()
		case 6:
			v.kind = valueMap
			v.text, ok = fc.MessageData()
		case 7:
			v.kind = valueBytes
			v.text, ok = fc.Bytes()
		}
		if !ok {
			return v, errProtobuf
		}
	}
	return v, nil
}

// appendValue appends a value as JSON.
func appendValue(b []byte, v *value, depth int) ([]byte, error) {
	if depth > maxDepth {
		return b, fmt.Errorf("an attribute is nested deeper than %d", maxDepth)
	}
	switch v.kind {
	case valueText:
		return AppendJSONString(b, v.text), nil
	case valueBool:
		return strconv.AppendBool(b, v.num != 0), nil
	case valueInt:
		return strconv.AppendInt(b, v.num, 10), nil
	case valueReal:
		return appendJSONFloat(b, v.real), nil
	case valueBytes:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, v.text)
		return append(b, '"'), nil
	case valueList:
		return appendList(b, v.text, depth)
	case valueMap:
		return appendMap(b, v.text, 1, depth)
	default:
		return append(b, "null"...), nil
	}
}

func appendList(b, src []byte, depth int) ([]byte, error) {
	b = append(b, '[')
	first := true
	err := eachMessage(src, 1, func(data []byte) error {
		v, err := anyValue(data)
		if err != nil {
			return err
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b, err = appendValue(b, &v, depth+1)
		return err
	})
	return append(b, ']'), err
}

// appendMap appends the KeyValue messages in a field as a JSON object.
func appendMap(b, src []byte, field uint32, depth int) ([]byte, error) {
	b = append(b, '{')
	first := true
	err := eachMessage(src, field, func(data []byte) error {
		key, v, err := keyValue(data)
		if err != nil {
			return err
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(AppendJSONString(b, key), ':')
		b, err = appendValue(b, &v, depth+1)
		return err
	})
	return append(b, '}'), err
}
