package normal_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// FuzzNormalizeValue puts another value into a recorded message. Bytes that are changed at
// random are seldom JSON; here the message stays one, and a value is not what it was.
func FuzzNormalizeValue(f *testing.F) {
	var all []fixture
	for _, format := range normal.Formats {
		for _, one := range fixtures(f, format) {
			one.Event.Format = format
			all = append(all, one)
		}
	}
	values := []string{`null`, `0`, `-1`, `1e999`, `9223372036854775808`, `true`, `""`, `"\u0000"`, `"chat"`, `[]`, `[null]`, `{}`, `{"a":{}}`, `[{"name":1}]`}
	for i := range all {
		for place := range 3 {
			f.Add(uint16(i), uint16(place*7), values[(i+place)%len(values)], false)
		}
	}
	f.Fuzz(func(t *testing.T, which, place uint16, value string, quoted bool) {
		e := all[int(which)%len(all)].Event
		put := jsontext.Value(value)
		if quoted {
			put = kind.TextValue(value)
		}
		if !put.IsValid() {
			return
		}
		all := places(t, e.Data)
		at := all[int(place)%len(all)]
		e.Data = slices.Concat(e.Data[:at[0]], put, e.Data[at[1]:])
		got, fields := normal.Normalize(e, "agent-1")
		storable(t, got)
		if len(fields) > 0 {
			require.Empty(t, got.Reports)
		}
		again, _ := normal.Normalize(e, "agent-1")
		require.Equal(t, got, again)
	})
}

// TestEveryValueReplaced is the exhaustive part of the same: every value of every
// recorded message becomes each of a few that it should not be.
func TestEveryValueReplaced(t *testing.T) {
	t.Parallel()
	long := string(kind.TextValue(strings.Repeat("é", 10_001)))
	for _, format := range normal.Formats {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			for _, one := range fixtures(t, format) {
				one.Event.Format = format
				whole := one.Event.Data
				for _, at := range places(t, whole) {
					values := []string{`null`, `-1`, `1e999`, `"\u0000"`, `[]`, `{}`, `true`, `"1969-07-20T20:17:40Z"`}
					if whole[at[0]] == '"' {
						values = append(values, long)
					}
					for _, value := range values {
						one.Event.Data = slices.Concat(whole[:at[0]], jsontext.Value(value), whole[at[1]:])
						got, _ := normal.Normalize(one.Event, "agent-1")
						storable(t, got)
					}
				}
			}
		})
	}
}

// places are where the values of a JSON text begin and end, names not counted.
func places(t testing.TB, v jsontext.Value) (out [][2]int64) {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	var open []int
	for {
		kind, length := dec.StackIndex(dec.StackDepth())
		name := kind == '{' && length%2 == 0
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		end := dec.InputOffset()
		switch token.Kind() {
		case '{', '[':
			open = append(open, len(out))
			out = append(out, [2]int64{end - 1, 0})
		case '}', ']':
			out[open[len(open)-1]][1] = end
			open = open[:len(open)-1]
		default:
			if !name {
				out = append(out, [2]int64{end - int64(len(raw(token, v, end))), end})
			}
		}
	}
}

// raw is the text of a token that ends at a place.
func raw(token jsontext.Token, v jsontext.Value, end int64) []byte {
	if token.Kind() != '"' {
		return []byte(token.String())
	}
	from := end - 2
	for v[from] != '"' || escaped(v, from) {
		from--
	}
	return v[from:end]
}

// escaped reports whether a quote is part of a text.
func escaped(v jsontext.Value, at int64) bool {
	n := 0
	for at--; v[at] == '\\'; at-- {
		n++
	}
	return n%2 == 1
}
