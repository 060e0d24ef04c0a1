package redact

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// distinct is a document in which no object has a name twice: of names that became the same
// mark, the second ends with #2. Most readers refuse an object with equal names, or keep only
// the last of their values.
func distinct(doc []byte) []byte {
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	var out []byte
	copied := 0
	// Of the objects that are open, the names with the next number for each; nil is a list.
	var objects []map[string]int
	for {
		switch dec.PeekKind() {
		case jsontext.KindInvalid: // the end
			return append(out, doc[copied:]...)
		case '{':
			objects = append(objects, map[string]int{})
		case '[':
			objects = append(objects, nil)
		case '}', ']':
			objects = objects[:len(objects)-1]
		default:
			in, n := dec.StackIndex(dec.StackDepth())
			raw, err := dec.ReadValue()
			if err != nil {
				return append(out, doc[copied:]...)
			}
			if in != '{' || n%2 != 0 {
				continue
			}
			plain, _ := jsontext.AppendUnquote(nil, raw)
			name, names := string(plain), objects[len(objects)-1]
			for names[name] > 0 {
				name = string(plain) + "#" + strconv.Itoa(names[string(plain)])
				names[string(plain)]++
			}
			names[name] = 2
			if name != string(plain) {
				end := int(dec.InputOffset())
				out = append(out, doc[copied:end-len(raw)]...)
				out, _ = jsontext.AppendQuote(out, name)
				copied = end
			}
			continue
		}
		if _, err := dec.ReadToken(); err != nil {
			return append(out, doc[copied:]...)
		}
	}
}
