// Package body_test measures what the edge's reading of a body costs: its time
// next to a plain decode of the same bytes, and its memory next to their number.
package body_test

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/shape"
	"github.com/assayhq/assay/internal/test/bench"
)

// items is a body like that of an import: a list of items with documented
// fields, free-form values and bounds.
type items struct {
	Items []item `json:"items" minItems:"1" maxItems:"1000"`
}

type item struct {
	Key            string         `json:"key,omitzero" maxLength:"200" pattern:"^[a-z0-9-]*$"`
	Input          httpapi.JSON   `json:"input"`
	ExpectedOutput httpapi.JSON   `json:"expectedOutput,omitzero"`
	Split          string         `json:"split,omitzero" enum:"train,validation,test"`
	Weight         float64        `json:"weight,omitzero" minimum:"0" maximum:"1000"`
	Tags           []string       `json:"tags,omitzero" maxItems:"20"`
	Metadata       httpapi.Object `json:"metadata,omitzero"`
	Source         source         `json:"source,omitzero"`
}

type source struct {
	TraceID   string `json:"traceId,omitzero" maxLength:"32"`
	StartedAt string `json:"startedAt,omitzero" format:"date-time"`
	TurnIndex int    `json:"turnIndex,omitzero" minimum:"0"`
}

func itemsShape() *shape.Shape {
	r := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	t := reflect.TypeFor[items]()
	return shape.Of(r, r.Schema(t, true, ""), t)
}

// typical is a body of n items, with names in one casing or the other.
func typical(n int, name func(string) string) []byte {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"key":"item-%d","input":{"messages":[{"role":"user","content":"What is the capital of country number %d, and since when? Explain in one sentence."}],"temperature":0.7,"max_tokens":256},`+
			`"%s":"The capital has been the same since the year %d, when the parliament moved.","split":"test","weight":1.5,"tags":["geography","short","v%d"],"metadata":{"source_file":"capitals.csv","row":%d},`+
			`"source":{"%s":"4bf92f3577b34da6a3ce929d0e0e4736","%s":"2026-01-31T12:00:00Z","%s":%d}}`,
			i, i, name("expectedOutput"), 1000+i, i%7, i, name("traceId"), name("startedAt"), name("turnIndex"), i%9)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func TestBench(t *testing.T) {
	t.Parallel()
	fewest, most := bench.MinRounds, 15
	if bench.Whole() {
		fewest, most = 41, 41
	}
	s := itemsShape()
	speed := func(name string, body []byte) func() bench.Figure {
		return func() bench.Figure {
			return bench.Figure{
				Name: name, Says: "bytes/s from body to value with validation ÷ a plain decode (" + name + ")", Goal: 0.5, Bound: 0.3, Least: true,
				Got: measure(t, fewest, most, s, body),
			}
		}
	}
	bench.Report(t,
		speed("body", typical(1000, func(n string) string { return n })),
		speed("body-renamed", typical(1000, shape.SnakeCase)),
		func() bench.Figure {
			return bench.Figure{
				Name: "body-memory", Says: "most memory over hostile bodies ÷ their size", Goal: 3, Bound: 6, Got: bench.Once(hostile(t, s)),
			}
		},
	)
}

// measure compares rates. Both sides make the same value.
func measure(t *testing.T, fewest, most int, s *shape.Shape, body []byte) bench.Ratio {
	t.Helper()
	rate := func(once func() error) bench.Side {
		return func() (float64, error) {
			start := time.Now()
			n := 0
			for ; n == 0 || time.Since(start) < 100*time.Millisecond; n++ {
				if err := once(); err != nil {
					return 0, err
				}
			}
			return float64(n*len(body)) / time.Since(start).Seconds(), nil
		}
	}
	rounds, err := bench.Run(fewest, most, func(r bench.Rounds) bool { return r.Ratio(0, 1).Low >= 0.5 },
		rate(func() error { return read(s, body, new(items)) }),
		rate(func() error { return json.Unmarshal(body, new(items)) }))
	require.NoError(t, err)
	return rounds.Ratio(0, 1)
}

// read is what the edge does with a body that it holds.
func read(s *shape.Shape, body []byte, into any) error {
	got, err := s.Read(body, nil)
	if err != nil {
		return err
	}
	if len(got.Violations) == 0 {
		got.Violations = shape.Decode(got.Body, into)
	}
	if len(got.Violations) > 0 {
		return fmt.Errorf("refused: %v", got.Violations[0])
	}
	return nil
}

// hostile is the most memory that a body makes the edge take, the body itself
// included, as a multiple of its size. Nothing is collected meanwhile, so that
// garbage counts too.
func hostile(t *testing.T, s *shape.Shape) float64 {
	t.Helper()
	size := 4 << 20
	if bench.Whole() {
		size = 32 << 20
	}
	fill := func(before, each, after string) []byte {
		n := (size - len(before) - len(after)) / len(each)
		return []byte(before + strings.Repeat(each, n) + after)
	}
	members := func(before, after string) []byte {
		var b strings.Builder
		b.WriteString(before)
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, `"%x":{},`, i)
		}
		b.WriteString(`"z":{}` + after)
		return []byte(b.String())
	}
	memory(t, s, "for comparison: an import", typical(1000, shape.SnakeCase))
	worst := 0.0
	for name, body := range map[string][]byte{
		"members of a free-form object":   members(`{"items":[{"input":{`, `}}]}`),
		"members that nobody documented":  members(`{`, `}`),
		"members in many objects":         fill(`{"items":[{"input":[{}`, `,{"a":{},"b":{},"c":{},"d":{}}`, `]}]}`),
		"empty objects, free-form":        fill(`{"items":[{"input":[{}`, `,{}`, `]}]}`),
		"empty items":                     fill(`{"items":[{}`, `,{}`, `]}`),
		"items with an undocumented name": fill(`{"items":[{}`, `,{"x":0,"input":1}`, `]}`),
		"tags":                            fill(`{"items":[{"input":1,"tags":[""`, `,""`, `]}]}`),
		"deep nesting":                    fill(`{"items":[{"input":`, `[`, `}]}`),
		"nesting, again and again":        fill(`{"items":[{"input":[1`, `,`+strings.Repeat("[", 60)+strings.Repeat("]", 60), `]}]}`),
		"one long name":                   fill(`{"`, `a`, `":1}`),
		"long names":                      fill(`{"items":[{"input":1}],"x":0`, `,"`+strings.Repeat("a", 100_000)+`":1`, `}`),
		"one long text":                   fill(`{"items":[{"input":"`, `a`, `"}]}`),
		"escapes":                         fill(`{"items":[{"key":"`, `\u0061`, `","input":1}]}`),
		"numbers":                         fill(`{"items":[{"input":[1`, `,1`, `]}]}`),
		"violations":                      fill(`{"items":[{"input":1,"tags":[1`, `,1`, `]}]}`),
	} {
		worst = max(worst, memory(t, s, name, body))
	}
	return worst
}

// memory is what one body takes.
func memory(t *testing.T, s *shape.Shape, name string, body []byte) float64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := read(s, body, new(items))
	runtime.ReadMemStats(&after)
	ratio := 1 + float64(after.TotalAlloc-before.TotalAlloc)/float64(len(body))
	verdict := "taken"
	if err != nil {
		verdict = "refused"
	}
	_, _ = fmt.Fprintf(os.Stdout, "%-34s %8d bytes, memory %5.2f times, %s\n", name, len(body), ratio, verdict)
	return ratio
}
