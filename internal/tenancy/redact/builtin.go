package redact

import (
	"bytes"
	"sync"
)

// redactTexts is the table of the built-in set. It is made once: a table is
// large, and every organization's Redactor shares it.
var redactTexts = sync.OnceValue(func() *redactTable { return newRedactTable(redactSecrets(), true) })

// redactDocs is the table for JSON documents.
var redactDocs = sync.OnceValue(func() *redactTable {
	return newRedactTable(append(redactSecrets(), redactNames()...), true)
})

// cardMark stands in place of a card number.
var cardMark = redactMark("card_number")

// redactSecrets returns the signs of the built-in set. Where two begin alike
// the more telling one comes first.
func redactSecrets() []redactSign {
	const atLeast = 16 // shorter than the shortest of them
	var all []redactSign
	add := func(name string, s redactSign) {
		s.mark, s.least = redactMark(name), atLeast
		all = append(all, s)
	}
	add("anthropic_key", redactSign{text: "sk-ant-", pairs: [2]int{0, 1}, find: dashed(7)})
	add("openai_key", redactSign{text: "sk-", pairs: [2]int{0, 1}, find: dashed(3)})
	for _, kind := range []string{"AKIA", "ASIA"} {
		add("aws_access_key", redactSign{text: kind, pairs: [2]int{1, 2}, find: awsKey})
	}
	for _, kind := range []string{"ghp_", "gho_", "ghs_", "ghu_", "ghr_"} {
		add("github_token", redactSign{text: kind, pairs: [2]int{0, 1}, find: redactPlain(4, 36)})
	}
	add("github_token", redactSign{text: "github_pat_", pairs: [2]int{4, 5}, find: redactPlain(11, 22)})
	for _, kind := range []string{"xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-"} {
		add("slack_token", redactSign{text: kind, pairs: [2]int{0, 1}, find: slackToken})
	}
	add("google_api_key", redactSign{text: "AIza", pairs: [2]int{1, 2}, find: googleKey})
	for _, kind := range []string{"asy_live_", "asy_test_"} {
		add("assay_key", redactSign{text: kind, pairs: [2]int{1, 2}, find: assayKey})
	}
	for _, kind := range []string{"sk_live_", "rk_live_"} {
		add("stripe_key", redactSign{text: kind, pairs: [2]int{1, 2}, find: redactPlain(8, 16)})
	}
	add("private_key", redactSign{text: "-----BEGIN", pairs: [2]int{6, 7}, open: true, find: pEM})
	add("jwt", redactSign{text: "eyJ", pairs: [2]int{1, 2}, last: jOSE, find: jWT})
	add("bearer_token", redactSign{text: "bearer", fold: true, pairs: [2]int{0, 1}, find: redactBearer})
	return all
}

// dashed finds a key that goes on with letters, digits, dashes and
// underscores after a beginning of n bytes.
func dashed(n int) func([]byte, int) (int, int) {
	return func(v []byte, at int) (from, to int) {
		end := redactRun(v, at+n, alnum|low|redactDash)
		if end-at-n < 20 || !random(v[at+n:end]) {
			return 0, 0
		}
		// Names of algorithms and of styles have digits too, but short words.
		for i := at + n; i < end; i++ {
			run := redactRun(v[:end], i, alnum)
			if run-i >= 12 && (bytes.ContainsAny(v[i:run], "0123456789") || random(v[i:run])) {
				return at, end
			}
			i = run
		}
		return 0, 0
	}
}

// redactPlain finds a key that goes on with at least least letters and digits
// after a beginning of n bytes; underscores may join more of them.
func redactPlain(n, least int) func([]byte, int) (int, int) {
	return func(v []byte, at int) (from, to int) {
		if redactRun(v, at+n, alnum)-at-n < least {
			return 0, 0
		}
		return at, redactRun(v, at+n, alnum|low)
	}
}

// awsKey finds the id of an AWS access key: 20 capitals and digits.
func awsKey(v []byte, at int) (from, to int) {
	end := redactRun(v, at, redactUpper|redactDigit)
	if end-at != 20 || end < len(v) && redactClass[v[end]]&(alnum|low) != 0 {
		return 0, 0
	}
	return at, end
}

func slackToken(v []byte, at int) (from, to int) {
	end := redactRun(v, at+5, alnum|redactDash)
	if end-at < 5+10 || !bytes.ContainsAny(v[at:end], "0123456789") {
		return 0, 0
	}
	return at, end
}

// googleKey finds a Google API key, which is 39 characters long.
func googleKey(v []byte, at int) (from, to int) {
	end := redactRun(v, at, alnum|low|redactDash)
	if end-at != 39 {
		return 0, 0
	}
	return at, end
}

// assayKey finds a key of this service: beginning, 12 characters of id
// and the secret. Beginning and id alone are public; lists of keys show them.
func assayKey(v []byte, at int) (from, to int) {
	id := at + len("asy_live_")
	secret := id + 12
	if redactRun(v, id, alnum) != secret || secret == len(v) || v[secret] != '_' ||
		redactRun(v, secret+1, alnum)-secret-1 < 8 {
		return 0, 0
	}
	return at, redactRun(v, secret, alnum|low)
}

// jOSE holds what the fourth character of a JWT can be: its header is a
// JSON object, and names of header parameters begin with a small letter.
const jOSE = "hijklmnopqrstuvwxyz0123456"

// jWT finds three or more parts of base64url with dots between. Only the
// last may be short: tokens without a signature still tell who somebody is.
func jWT(v []byte, at int) (from, to int) {
	const least = 10
	const part = alnum | low | redactDash
	dot := redactRun(v, at, part)
	if dot-at < least || dot == len(v) || v[dot] != '.' || bytes.IndexByte([]byte(jOSE), v[at+3]) < 0 {
		return 0, 0
	}
	end := redactRun(v, dot+1, part)
	if end-dot-1 < least || end == len(v) || v[end] != '.' {
		return 0, 0
	}
	return at, redactRun(v, end, part|redactDot)
}

// redactBearer finds the token after the word of the Authorization header. The
// word stays.
func redactBearer(v []byte, at int) (from, to int) {
	from = at + len("bearer")
	for from < len(v) && (v[from] == ' ' || v[from] == '\t') {
		from++
	}
	if from == at+len("bearer") {
		if !bytes.HasPrefix(v[from:], []byte("%20")) {
			return 0, 0
		}
		from += 3
	}
	to = redactRun(v, from, alnum|low|redactDash|redactDot|redactToken)
	if to-from < 16 || !random(v[from:to]) {
		return 0, 0
	}
	return from, to
}

// pEM finds a private key in PEM: from its first line to its last. A key
// that was cut off ends with its last long line. The first line by itself is no
// secret.
func pEM(v []byte, at int) (from, to int) {
	const dashes, long = "-----", 24 // no written word is as long as that
	label := at + len("-----BEGIN")
	i := redactRun(v, label, redactUpper|redactDigit|blank)
	name := bytes.TrimSuffix(v[label:i], []byte(" BLOCK"))
	if !bytes.HasSuffix(name, []byte(" PRIVATE KEY")) || !bytes.HasPrefix(v[i:], []byte(dashes)) {
		return 0, 0
	}
	run := 0
	for i += len(dashes); i < len(v); i++ {
		class := redactClass[v[i]]
		if class&base != 0 {
			if run++; run >= long {
				to = i + 1
			}
			continue
		}
		if run = 0; class&body == 0 || bytes.HasPrefix(v[i:], []byte(dashes)) {
			break
		}
	}
	switch {
	case to == 0:
		return 0, 0
	case i == len(v) && bytes.IndexByte(v[to:], ' ') < 0: // the rest is a line that was cut off, and no sentence
		to = i
	case bytes.HasPrefix(v[i:], []byte("-----END")):
		to = redactRun(v, i+len("-----END"), redactUpper|redactDigit|blank)
		to += len(v[to:]) - len(bytes.TrimPrefix(v[to:], []byte(dashes)))
	}
	return at, to
}

// random reports whether text looks drawn by lot rather than written: it
// has digits, or its letters keep changing case.
func random(text []byte) bool {
	digits, flips := 0, 0
	var last uint16
	for _, b := range text {
		class := redactClass[b] & (redactDigit | redactLower | redactUpper)
		if class == redactDigit {
			digits++
		} else if class|last == redactLower|redactUpper {
			flips++
		}
		last = class
	}
	return digits >= 3 || flips*3 > len(text)
}
