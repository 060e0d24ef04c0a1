// Package secret keeps secrets out of sight.
package secret

import "log/slog"

// Text is a secret string. It prints, logs and encodes as dots; only Reveal
// returns the value, so that a search for Reveal finds every use.
type Text string

const hidden = "•••"

// Reveal returns the secret itself.
func (t Text) Reveal() string { return string(t) }

// String hides the value, and shows whether there is one.
func (t Text) String() string {
	if t == "" {
		return ""
	}
	return hidden
}

// GoString hides the value from %#v.
func (t Text) GoString() string { return t.String() }

// LogValue hides the value from logs.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText hides the value from every encoder.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
