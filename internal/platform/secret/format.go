package secret

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
)

// Format hides the value from every verb. Without it a verb that does not suit
// a string, such as %d, makes fmt complain and quote the value.
func (t Text) Format(s fmt.State, verb rune) {
	shown := t.String()
	if verb == 'q' {
		shown = strconv.Quote(shown)
	}
	_, _ = io.WriteString(s, shown) // fmt keeps the writer's error to itself
}

// Format hides the keys from every verb.
func (k Keeper) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

// LogValue hides the keys from logs.
func (k Keeper) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the keys from every encoder.
func (k Keeper) MarshalText() ([]byte, error) { return []byte(hidden), nil }
