package redact

import "bytes"

// keyRule is an organization's rule for the values of a key.
type keyRule struct {
	mark    string
	key     []byte
	needles []redactNeedle // one of them is in every document with such a member
}

func newRedactKeyRule(mark, key string) keyRule {
	r := keyRule{mark: mark, key: []byte(key)}
	for _, p := range redactPieces(key, true) {
		if p.odd {
			continue
		}
		n := newRedactNeedle(p)
		if p.text == key {
			n.then = `"\` // a document in a string escapes its quotation marks
		}
		r.needles = append(r.needles, n)
	}
	return r
}

// keyWord is a built-in name of secrets. A bar stands where a dash, an
// underscore, a dot or a capital may divide it.
type keyWord struct{ word, mark string }

var keyWords = [...]keyWord{
	{"password", redactMark("password")},
	{"passwd", redactMark("password")},
	{"secret", redactMark("secret")},
	{"secret|key", redactMark("secret")},
	{"secret|access|key", redactMark("secret")},
	{"api|key", redactMark("api_key")},
	{"authorization", redactMark("authorization")},
	{"access|token", redactMark("access_token")},
	{"refresh|token", redactMark("refresh_token")},
	{"private|key", redactMark("private_key")},
	{"cookie", redactMark("cookie")},
	{"set|cookie", redactMark("cookie")},
}

// Key reports whether the value of an attribute or a member of this name is
// removed whole.
//
// Case never matters. A built-in name also matches as the last part of a longer
// one, as in http.request.header.authorization, db_password and clientSecret;
// an organization's as the last part after a dot.
func (r *Redactor) Key(name []byte) bool {
	mark, _ := r.KeyMark(name)
	return mark != ""
}

// KeyMark returns what stands in place of a value of this name, or "", and
// whether the organization said so.
func (r *Redactor) KeyMark(name []byte) (mark string, own bool) {
	for i := range r.keys {
		key := r.keys[i].key
		if bytes.EqualFold(name, key) {
			return r.keys[i].mark, true
		}
		if rest := len(name) - len(key); rest > 0 && name[rest-1] == '.' && bytes.EqualFold(name[rest:], key) {
			return r.keys[i].mark, true
		}
	}
	return redactKeyMark(name), false
}

// redactKeyMark is keyMark of the built-in names.
func redactKeyMark(name []byte) string {
	if len(name) < len("secret") {
		return ""
	}
	last := name[len(name)-1] | 0x20
	for i := range keyWords {
		w := &keyWords[i]
		if w.word[len(w.word)-1] == last && w.ends(name) {
			return w.mark
		}
	}
	return ""
}

// ends reports whether the word is the last part of a name.
func (w *keyWord) ends(name []byte) bool {
	i := len(name)
	for j := len(w.word) - 1; j >= 0; j-- {
		if i == 0 {
			return false
		}
		switch b := name[i-1]; {
		case w.word[j] != '|':
			if b|0x20 != w.word[j] || redactClass[b]&redactLetter == 0 {
				return false
			}
			i--
		case redactClass[b]&(low|redactDash|redactDot) != 0:
			i--
		}
	}
	if i == 0 || redactClass[name[i-1]]&alnum == 0 {
		return true
	}
	first, next := redactClass[name[i]], redactClass[name[i+1]]
	return first&redactUpper != 0 && (redactClass[name[i-1]]&redactUpper == 0 || next&redactLower != 0)
}

// redactNames returns the signs of built-in names of members in a JSON document,
// also of a document in a string of another.
func redactNames() []redactSign {
	all := []redactSign{
		{text: "passw", pairs: [2]int{3, 4}, last: "oOdD"},
		{text: "secret", pairs: [2]int{1, 2}},
		{text: "api", pairs: [2]int{1, 2}, last: "kK_-."},
		{text: "authoriz", pairs: [2]int{6, 7}, last: "aA"},
		{text: "token", pairs: [2]int{1, 4}, last: `"\`},
		{text: "private", pairs: [2]int{2, 3}},
		{text: "cookie", pairs: [2]int{2, 3}},
	}
	for i := range all {
		all[i].fold, all[i].open, all[i].key, all[i].least, all[i].find = true, true, true, redactWord, redactName
	}
	return all
}

// redactName finds the name of a member around at: the rest of it, its
// quotation mark, which a document in a string escapes, and the colon.
func redactName(v []byte, at int) (from, to int) {
	const name = alnum | low | redactDash | redactDot
	to = redactRun(v[:min(len(v), at+64)], at, name) // no built-in name is longer after its sign
	i := to
	for i < len(v) && v[i] == '\\' {
		i++
	}
	if i == len(v) || v[i] != '"' {
		return 0, 0
	}
	if i = redactRun(v, i+1, redactSpace); i == len(v) || v[i] != ':' {
		return 0, 0
	}
	for from = at; from > 0 && at-from < 16 && redactClass[v[from-1]]&name != 0; {
		from-- // nor before it
	}
	if redactKeyMark(v[from:to]) == "" {
		return 0, 0
	}
	return from, to
}
