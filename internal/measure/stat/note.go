package stat

import (
	"github.com/go-json-experiment/json"
)

// Note is a text for readers. Where there is nothing to say it is null, and not an
// empty text.
type Note string

// MarshalJSON writes the text, or null.
func (n Note) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(n))
}

// UnmarshalJSON reads a text, or null.
func (n *Note) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	if *n = ""; text != nil {
		*n = Note(*text)
	}
	return nil
}
