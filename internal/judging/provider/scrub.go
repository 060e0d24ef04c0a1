package provider

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// scrubbed is what stands in an answer for a secret.
const scrubbed = "[secret]"

// minScrubbed is the shortest secret that is looked for: a shorter one is in many
// texts that do not know it.
const minScrubbed = 6

// scrubber takes a secret out of answers, so that an application that repeats its
// request does not put it where readers of results see it.
type scrubber struct{ replacer *strings.Replacer }

// newScrubber looks for a secret as it is, escaped for a URL, and in base64, alone
// and after a user's colon as in basic authentication.
func newScrubber(secret string) *scrubber {
	if len(secret) < minScrubbed {
		return nil
	}
	var pairs []string
	seen := map[string]bool{"": true}
	add := func(form string) {
		if !seen[form] {
			seen[form] = true
			pairs = append(pairs, form, scrubbed)
		}
	}
	add(secret)
	add(url.QueryEscape(secret))
	add(url.PathEscape(secret))
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		// Within a longer text the first and last characters of a form depend on
		// what is around the secret, so those in between are looked for, once for
		// each of the three places where a secret can begin.
		for before := range 3 {
			encoded := encoding.EncodeToString(append(make([]byte, before), secret...))
			from := (before*8 + 5) / 6
			to := (before + len(secret)) * 8 / 6
			add(encoded[from:to])
		}
	}
	return &scrubber{strings.NewReplacer(pairs...)}
}

// quoted is an answer of any form without the secret, for a message.
func (s *scrubber) quoted(answer []byte) string {
	if s == nil {
		return string(answer)
	}
	if clean, err := s.value(bytes.TrimSpace(answer)); err == nil {
		answer = clean
	}
	return s.replacer.Replace(string(answer))
}

// value takes the secret out of every text of a JSON value, however it is escaped
// there. A value without it is returned as it is.
func (s *scrubber) value(v jsontext.Value) (jsontext.Value, error) {
	if s == nil || len(v) == 0 {
		return v, nil
	}
	var out bytes.Buffer
	from := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	to := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	found := false
	for from.PeekKind() != 0 {
		token, err := from.ReadToken()
		if err != nil {
			return nil, err
		}
		if token.Kind() == '"' {
			text := token.String()
			clean := s.replacer.Replace(text)
			found = found || clean != text
			token = jsontext.String(clean)
		}
		if err := to.WriteToken(token); err != nil {
			return nil, err
		}
	}
	if !found {
		return v, nil
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
