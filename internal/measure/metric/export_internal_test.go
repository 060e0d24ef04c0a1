package metric

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

// Text is what a JSON value says as text, and whether it could be read.
func Text(v jsontext.Value) (text string, ok bool) {
	w := work{schema.NewWork()}
	doc, err := w.Decode(v)
	if err != nil {
		return "", false
	}
	return textOf(doc), true
}
