package span

import (
	"bytes"
	"time"

	"github.com/assayhq/assay/internal/telemetry/span/payload"
)

const (
	// MaxTags is how many tags a span has.
	MaxTags = 64
	// maxTag is how many bytes a tag has; a longer text is a sentence.
	maxTag = 256
)

// tag adds tags: a list, a JSON array in a text, or one text. LangSmith
// separates with commas.
func (r *Record) tag(v *value, commas bool) {
	switch v.kind {
	case valueList:
		// A list that cannot be read is reported where it is kept.
		_ = eachMessage(v.text, 1, func(data []byte) error {
			item, err := anyValue(data)
			if err == nil && item.kind == valueText {
				r.addTag(item.text)
			}
			return err
		})
	case valueText:
		text := bytes.TrimSpace(v.text)
		switch {
		case len(text) > 0 && text[0] == '[' && payload.Valid(text):
			r.tagJSON(text)
		case commas:
			for len(text) > 0 {
				var one []byte
				one, text, _ = bytes.Cut(text, []byte(","))
				r.addTag(bytes.TrimSpace(one))
			}
		default:
			r.addTag(text)
		}
	}
}

func (r *Record) tagJSON(list []byte) {
	for w := payload.Walk(list, 0); w.Next(); w.Skip() {
		if list[w.At] != '"' {
			continue
		}
		end := payload.StringEnd(list, w.At)
		raw := list[w.At+1 : end-1]
		if bytes.IndexByte(raw, '\\') >= 0 {
			raw = r.scratch.close(payload.AppendUnescaped(r.scratch.open(), raw))
		}
		r.addTag(raw)
	}
}

func (r *Record) addTag(tag []byte) {
	if len(tag) == 0 || len(tag) > maxTag || len(r.Tags) >= MaxTags {
		return
	}
	for _, has := range r.Tags {
		if bytes.Equal(has, tag) {
			return
		}
	}
	r.Tags = append(r.Tags, tag)
}

// usage is what a JSON object says of tokens.
type usage struct {
	input, inputParts, output, outputParts, total uint64
	cached, written, reasoning                    uint64
}

// usageDetails reads langfuse.observation.usage_details. Its parts do not
// overlap unless the total says that they do; the objects of providers, which
// do overlap, are understood too.
func (r *Record) usageDetails(text []byte) {
	if !payload.Valid(text) {
		return
	}
	var u usage
	u.read(text, payload.SkipSpace(text, 0), 0)
	if u.total != u.input+u.output {
		u.input += u.inputParts
		u.output += u.outputParts
	}
	set := func(f fact, to *uint32, n uint64) {
		if n > 0 {
			r.count(f, fromLangfuse, to, &value{kind: valueInt, num: int64(min(n, 1<<40))})
		}
	}
	set(factInputTokens, &r.InputTokens, u.input)
	set(factOutputTokens, &r.OutputTokens, u.output)
	set(factTotalTokens, &r.meaning().totalTokens, u.total)
	set(factCachedTokens, &r.CachedTokens, u.cached)
	set(factCacheWriteTokens, &r.CacheWriteTokens, u.written)
	set(factReasoning, &r.ReasoningTokens, u.reasoning)
}

func (u *usage) read(text []byte, at, depth int) {
	if at >= len(text) || text[at] != '{' || depth > 1 {
		return
	}
	for w := payload.Walk(text, at); w.Next(); w.Skip() {
		if text[w.At] == '{' {
			u.read(text, w.At, depth+1)
			continue
		}
		n := jsonCount(text, w.At)
		switch string(w.Key) {
		case "input", "prompt_tokens", "input_tokens", "promptTokens":
			u.input += n
		case "output", "completion_tokens", "output_tokens", "completionTokens":
			u.output += n
		case "total", "total_tokens", "totalTokens":
			u.total = n
		case "input_cached_tokens", "cache_read_input_tokens", "input_cache_read":
			u.cached += n
			u.inputParts += n
		case "cached_tokens":
			u.cached += n
		case "cache_creation_input_tokens", "input_cache_creation", "input_cache_write":
			u.written += n
			u.inputParts += n
		case "output_reasoning_tokens", "output_reasoning":
			u.reasoning += n
			u.outputParts += n
		case "reasoning_tokens":
			u.reasoning += n
		case "input_audio_tokens", "input_image_tokens":
			u.inputParts += n
		case "output_audio_tokens":
			u.outputParts += n
		}
	}
}

// costDetails reads langfuse.observation.cost_details: a total, or parts that
// make it.
func (r *Record) costDetails(text []byte) {
	at := payload.SkipSpace(text, 0)
	if !payload.Valid(text) || text[at] != '{' {
		return
	}
	total, sum, found := -1.0, 0.0, false
	for w := payload.Walk(text, at); w.Next(); w.Skip() {
		v := value{kind: valueText, text: text[w.At:max(w.At, payload.ValueEnd(text, w.At))]}
		f, ok := v.float()
		if !ok || f < 0 {
			continue
		}
		found = true
		if string(w.Key) == "total" {
			total = f
		} else {
			sum += f
		}
	}
	if !found {
		return
	}
	if total < 0 {
		total = sum
	}
	r.dollars(fromLangfuse, &value{kind: valueReal, real: total})
}

// jsonCount is a JSON number as a count; what is none counts as zero.
func jsonCount(text []byte, at int) uint64 {
	v := value{kind: valueText, text: text[at:max(at, payload.ValueEnd(text, at))]}
	f, ok := v.float()
	if !ok || !(f > 0) {
		return 0
	}
	return uint64(min(f, 1<<40))
}

// instant reads a time in microseconds: RFC 3339, also within quotes, as some
// libraries encode texts twice; or a number whose size tells its unit.
func instant(v *value) (int64, bool) {
	switch v.kind {
	case valueText:
		var t time.Time
		if err := t.UnmarshalText(bytes.Trim(v.text, `" `)); err != nil {
			return 0, false
		}
		return t.UnixMicro(), true
	case valueInt:
		switch n := v.num; {
		case n > 1e17:
			return n / 1e3, true
		case n > 1e14:
			return n, true
		case n > 1e11:
			return n * 1e3, true
		default:
			return n * 1e6, n > 0
		}
	default:
		return 0, false
	}
}

// takeList keeps a list whose elements are JSON in texts.
func (r *Record) takeList(p *candidate, how form, key []byte, v *value) bool {
	if v.kind != valueList {
		return r.take(p, how, key, v)
	}
	b := append(r.scratch.open(), '[')
	err := eachMessage(v.text, 1, func(data []byte) error {
		item, err := anyValue(data)
		if err != nil {
			return err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		if item.kind == valueText && payload.Valid(item.text) {
			b = append(b, item.text...)
			return nil
		}
		b, err = appendValue(b, &item, 0)
		return err
	})
	if err != nil {
		return false
	}
	text := r.scratch.close(append(b, ']'))
	r.meaning().found = true
	if p.form < how {
		*p = candidate{key: key, text: text, json: true, form: how}
	}
	return true
}
