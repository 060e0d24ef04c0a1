package detect

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Fingerprint names a failure by its mode, runtime, tool and the gist of its message:
// "fp_" and 24 hexadecimal digits. It is the same for messages that differ in numbers,
// ids, quoted text, addresses or times.
func Fingerprint(mode, runtimeKey, tool, message string) string {
	h := sha256.New()
	for _, part := range []string{mode, runtimeKey, tool, Gist(message)} {
		// With their lengths, parts cannot be confused with each other.
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return "fp_" + hex.EncodeToString(h.Sum(nil)[:12])
}

const (
	// maxRead is how much of a text is read, in bytes.
	maxRead = 16 << 10
	// maxGist is how many words name a failure. What follows is usually a stack or a
	// copy of the input.
	maxGist = 50
	// maxWord is the length of a word, in bytes.
	maxWord = 100
	// gap stands for what differs from time to time.
	gap = "#"
)

var (
	quoted  = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|“[^”]*”|‘[^’]*’|«[^»]*»")
	single  = regexp.MustCompile(`(^|[^\pL\pN])'[^']*'`)
	address = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://\S*`)
	date    = regexp.MustCompile(`(?i)(?:\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?(?:\b\d{1,2}[\s-]+)?\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b[\s-]+\d{1,4}`)
)

// Gist is what a message says without what differs from time to time, as words in lower
// case with one "#" for each gap. The gist of a gist is the same.
func Gist(message string) string {
	message = strings.ToValidUTF8(cut(message, maxRead), " ")
	message = quoted.ReplaceAllString(message, " "+gap+" ")
	message = single.ReplaceAllString(message, "${1} "+gap+" ")
	message = address.ReplaceAllString(message, " "+gap+" ")
	message = date.ReplaceAllString(message, " "+gap+" ")
	var out []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(message), separates) {
		word = constant(word)
		if word == "" || word == gap && len(out) > 0 && out[len(out)-1] == gap {
			continue
		}
		if out = append(out, word); len(out) == maxGist {
			break
		}
	}
	return strings.Join(out, " ")
}

// constant is what a word is reduced to: itself, or a gap.
func constant(word string) string {
	word = strings.Trim(word, "-_")
	if !varies(word) {
		// What is left after a cut may end in a hyphen, or look like an id.
		word = strings.Trim(cut(word, maxWord), "-_")
	}
	if varies(word) {
		return gap
	}
	return word
}

// separates reports whether a character is between words. Hyphens and underscores are
// within them, since ids have them.
func separates(r rune) bool {
	return r != '-' && r != '_' && r != '#' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// varies reports whether a word is a number, an id or the like: it has a digit, or could
// be hexadecimal and is as long as ids are.
func varies(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return r == '#' || unicode.IsNumber(r) }) ||
		len(word) >= 8 && strings.Trim(word, "abcdef-") == ""
}

// cut shortens a text to a number of bytes, between characters.
func cut(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}
