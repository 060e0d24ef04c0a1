package llm

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestStrictSchema(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"type":"object"}`:                                     `{"type":"object"}`,
		`{"type":"integer","minimum":1,"maximum":5}`:            `{"type":"integer","description":"{\"minimum\":1,\"maximum\":5}"}`,
		`{"description":"Points.","minimum":1,"type":"number"}`: `{"type":"number","description":"Points. {\"minimum\":1}"}`,
		`{"properties":{"minimum":{"type":"string"},"a":{"anyOf":[{"minimum":0},true]}},"required":["minimum","a"]}`: `{"properties":{"minimum":{"type":"string"},"a":{"anyOf":[{"description":"{\"minimum\":0}"},true]}},"required":["minimum","a"]}`,
		`{"enum":[{"minimum":1}],"items":{"items":{"maxItems":2}}}`:                                                  `{"enum":[{"minimum":1}],"items":{"items":{"description":"{\"maxItems\":2}"}}}`,
		`{"$defs":{"z":{"minLength":1},"a":{}},"$ref":"#/$defs/z"}`:                                                  `{"$defs":{"z":{"description":"{\"minLength\":1}"},"a":{}},"$ref":"#/$defs/z"}`,
	} {
		got, err := strictSchema(jsontext.Value(in), messagesUnheeded)
		require.NoError(t, err, in)
		require.Equal(t, want, string(got), "members keep their order")
	}
	_, err := strictSchema(jsontext.Value(`{"type":`), messagesUnheeded)
	require.Error(t, err)
}
