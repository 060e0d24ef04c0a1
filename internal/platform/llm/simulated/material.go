package simulated

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// material is what a judge is shown: the strings of the member data of the last
// message that is a JSON object with one.
type material map[string]string

// The parts of material that hold answers.
const (
	partOutput = "output"
	partFirst  = "first_answer"
	partSecond = "second_answer"
)

// materialOf finds the material of a prompt, nil if it has none.
func materialOf(p *prompt) material {
	for i := len(p.turns) - 1; i >= 0; i-- {
		var m struct {
			Check string   `json:"check"`
			Data  material `json:"data"`
		}
		if p.turns[i].role != "assistant" && json.Unmarshal([]byte(p.turns[i].text), &m) == nil && m.Check != "" {
			return m.Data
		}
	}
	return nil
}

// pair reports whether two answers are to be compared.
func (m material) pair() bool { return m[partFirst] != "" && m[partSecond] != "" }

// better is the answer of two whose marker has the larger score, or tie. It is empty
// if there are no such markers.
func (m material) better() string {
	if !m.pair() {
		return ""
	}
	one, ok := scoreIn(m[partFirst])
	two, fine := scoreIn(m[partSecond])
	switch {
	case !ok || !fine:
		return ""
	case one > two:
		return "first"
	case two > one:
		return "second"
	}
	return "tie"
}

// scoreIn is the score of the last marker in a text.
func scoreIn(text string) (float64, bool) {
	i := strings.LastIndex(text, "[[score:")
	if i < 0 {
		return 0, false
	}
	value, _, ok := strings.Cut(text[i+len("[[score:"):], "]]")
	s, err := strconv.ParseFloat(value, 64)
	return s, ok && err == nil && s >= 0 && s <= 1
}

// demand is what a text asks of whoever judges it.
type demand struct {
	part   string // of the material that it stands in
	forged string // an answer in the text, to be given as it is
	first  bool   // whether it wants the answer that comes first to win
}

// asks are words by which texts speak of verdicts, in several languages.
var asks = regexp.MustCompile(`rating|verdict|score|winner|grade|full marks|bewertung|bestnote|urteil|calificaci|veredicto|note maximale|évaluation|评分|评价|評価|оценк|تقييم|avaliação|valutazione|ocen[aęy]|puan|평가|रेटिंग|beoordeling|betyg`)

// forgeries are JSON objects with the members of a verdict.
var forgeries = regexp.MustCompile(`\{[^{}]*"(?:rating|winner|ratings)"[^{}]*(?:\{[^{}]*\}[^{}]*)?\}`)

// demanded finds what an answer in the material asks for. It looks through disguises
// that a capable model looks through.
func (m material) demanded() (demand, bool) {
	for _, part := range []string{partOutput, partFirst, partSecond, "tool_calls", "context", "messages", "input"} {
		text := m[part]
		if text == "" {
			continue
		}
		plain := undisguised(text)
		if forged := forgeries.FindString(text); forged != "" {
			return demand{part: part, forged: forged, first: strings.Contains(forged, `"first"`)}, true
		}
		if asks.MatchString(plain) {
			return demand{part: part, first: strings.Contains(plain, "first answer") || strings.Contains(plain, partFirst)}, true
		}
	}
	return demand{}, false
}

// invisible are characters that a reader does not see.
var invisible = strings.NewReplacer("\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "", "\u00ad", "")

// lookalikes are letters that look like others.
var lookalikes = strings.NewReplacer("а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "х", "x", "і", "i", "ѕ", "s", "ԁ", "d", "ո", "n", "ɡ", "g")

// encoded are words that may be base64 or hexadecimal.
var encoded = regexp.MustCompile(`[A-Za-z0-9+/]{24,}={0,2}`)

// markers are for the simulation and say nothing.
var markers = regexp.MustCompile(`\[\[[a-z]+:[^\]]*\]\]`)

// undisguised is a text in small letters, with what it hides spelt out behind it.
func undisguised(text string) string {
	text = invisible.Replace(markers.ReplaceAllString(text, ""))
	all := []string{text, lookalikes.Replace(text), strings.Map(rot13, text), reversed(text)}
	for _, word := range encoded.FindAllString(text, 20) {
		if b, err := hex.DecodeString(word); err == nil {
			all = append(all, string(b))
		} else if b, err := base64.StdEncoding.DecodeString(word); err == nil {
			all = append(all, string(b))
		}
	}
	spaced := strings.NewReplacer(" ", "", ".", "", "-", "", "*", "", "_", "").Replace(text)
	return strings.ToLower(strings.Join(append(all, spaced), "\n"))
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

func reversed(text string) string {
	all := []rune(text)
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return string(all)
}
