package simulated

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// embeddings is OpenAI's embeddings. Headers and errors are those of its chat.
type embeddings struct{ chat }

const (
	// defaultDimensions is how long a vector is unless the request says.
	defaultDimensions = 64
	// maxDimensions and maxTexts are OpenAI's.
	maxDimensions = 3072
	maxTexts      = 2048
)

type embeddingsRequest struct {
	Model          string         `json:"model"`
	Input          jsontext.Value `json:"input"`
	EncodingFormat string         `json:"encoding_format"`
	Dimensions     int            `json:"dimensions"`
}

func (embeddings) read(body []byte) (*prompt, *failure) {
	var in embeddingsRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, invalid("The body is not a request in JSON.")
	}
	texts, ok := textsOf(in.Input)
	switch {
	case in.Model == "":
		return nil, invalid("model is missing.")
	case !ok || len(texts) == 0 || len(texts) > maxTexts:
		return nil, invalid("input is not text, or a list of 1 to 2048 texts or lists of tokens.")
	case in.Dimensions < 0 || in.Dimensions > maxDimensions:
		return nil, invalid("dimensions is not between 1 and 3072.")
	case in.EncodingFormat != "" && in.EncodingFormat != "float" && in.EncodingFormat != "base64":
		return nil, invalid("encoding_format is " + in.EncodingFormat + ": use float or base64.")
	}
	p := &prompt{model: in.Model, dimensions: cmp.Or(in.Dimensions, defaultDimensions), packed: in.EncodingFormat == "base64"}
	for _, text := range texts {
		p.turns = append(p.turns, turn{"user", text})
	}
	p.seal()
	return p, nil
}

// textsOf reads an input: a text, a list of texts, or tokens, which count as
// the text that they are written as.
func textsOf(input jsontext.Value) ([]string, bool) {
	switch input.Kind() {
	case '"':
		text, ok := words(input)
		return []string{text}, ok
	case '[':
	default:
		return nil, false
	}
	var list []jsontext.Value
	if json.Unmarshal(input, &list) != nil {
		return nil, false
	}
	var out []string
	for _, v := range list {
		switch v.Kind() {
		case '"':
			text, _ := words(v)
			out = append(out, text)
		case '[':
			out = append(out, string(v))
		case '0':
			return []string{string(input)}, true
		default:
			return nil, false
		}
	}
	return out, true
}

func (embeddings) answer(_ string, p *prompt, _ answer) []byte {
	data := make([]object, len(p.turns))
	for i, t := range p.turns {
		v := vector(p.model, t.text, p.dimensions)
		data[i] = object{"object": "embedding", "index": i, "embedding": v}
		if p.packed {
			var raw []byte
			for _, x := range v {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
			}
			data[i]["embedding"] = base64.StdEncoding.EncodeToString(raw)
		}
	}
	n := p.size()
	return mustJSON(object{"object": "list", "model": p.model, "data": data, "usage": object{"prompt_tokens": n, "total_tokens": n}})
}

// stream is the same: nobody asks for vectors in pieces.
func (e embeddings) stream(id string, p *prompt, a answer) []byte { return e.answer(id, p, a) }

// vector is a vector of length one that depends on the model and the text alone.
func vector(model, text string, size int) []float32 {
	h := mix(uint64(hash(14695981039346656037).add(model).add(text)))
	out, sum := make([]float32, size), 0.0
	for i := range out {
		h = mix(h + uint64(i) + 1)
		x := float64(h>>11)/(1<<52) - 1
		out[i] = float32(x)
		sum += x * x
	}
	for i := range out {
		out[i] = float32(float64(out[i]) / math.Sqrt(sum))
	}
	return out
}
