package gather

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/dataset"
)

// shownContent is what people see of an item: the question and the answer, and nothing
// of who answered.
func shownContent(c dataset.Content, output jsontext.Value) (jsontext.Value, error) {
	if output == nil {
		output = c.Output
	}
	text, err := json.Marshal(struct {
		Input    jsontext.Value `json:"input"`
		Output   jsontext.Value `json:"output"`
		Expected jsontext.Value `json:"expected_output,omitzero"`
		Context  jsontext.Value `json:"context,omitzero"`
		Messages jsontext.Value `json:"messages,omitzero"`
	}{orNull(c.Input), orNull(output), c.ExpectedOutput, c.Context, c.Messages})
	if err != nil {
		return nil, fmt.Errorf("content of an item: %w", err)
	}
	return text, nil
}

func orNull(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}
