package shape

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
)

// Decode reads a body that has passed its shape into a value. A type may still
// refuse what its schema cannot say; its own words stay inside.
func Decode(body []byte, into any) []fault.Field {
	err := json.Unmarshal(body, into, jsontext.AllowDuplicateNames(true)) // the reader has found none
	if err == nil {
		return nil
	}
	at := ""
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		at = shorten(string(semantic.JSONPointer))
	}
	return []fault.Field{{In: "body", Path: at, Code: "format", Message: "cannot be read as its type"}}
}
