package redact

// Classes of bytes, as bits.
const (
	redactLower uint16 = 1 << iota
	redactUpper
	redactDigit
	redactHex
	low // the underscore
	redactDash
	redactDot
	redactToken // what else a bearer token may hold
	body        // what a PEM block holds beside letters and digits
	base        // base64
	blank       // the space
	redactSpace // space, tab and the ends of lines

	redactLetter = redactLower | redactUpper
	alnum        = redactLetter | redactDigit
)

var redactClass = func() (class [256]uint16) {
	for b := byte('a'); b <= 'z'; b++ {
		class[b] |= redactLower | base
		class[b-0x20] |= redactUpper | base
	}
	for b := byte('0'); b <= '9'; b++ {
		class[b] |= redactDigit | base
	}
	for set, bit := range map[string]uint16{
		"0123456789abcdefABCDEF": redactHex,
		"_":                      low,
		"-":                      redactDash,
		".":                      redactDot,
		"~+/=":                   redactToken,
		" \t\r\n\\-:,.()<>@+/=":  body,
		"+/=":                    base,
		" ":                      blank,
		" \t\r\n":                redactSpace,
	} {
		for _, b := range []byte(set) {
			class[b] |= bit
		}
	}
	return class
}()

// redactRun returns where a run of bytes of a class ends.
func redactRun(v []byte, at int, class uint16) int {
	for at < len(v) && redactClass[v[at]]&class != 0 {
		at++
	}
	return at
}

// redactBegins reports whether a word may begin at at: nothing that could be a
// part of it stands before, or what stands there ends an escape sequence.
func redactBegins(v []byte, at int) bool {
	if at == 0 {
		return true
	}
	switch class := redactClass[v[at-1]]; {
	case class&(low|redactDash) != 0:
		return false
	case class&alnum != 0:
		return redactEscape(v, at) == at
	}
	return true
}

// redactEscape returns where an escape sequence ends that begins before at and
// reaches it or beyond, or 0: \n and its like and \u of JSON and source code,
// %20 of addresses, and the end of a terminal's colour. Their last characters
// are letters and digits that belong to no word.
func redactEscape(v []byte, at int) int {
	if at >= 2 && v[at-2] == '\\' {
		switch v[at-1] {
		case 'b', 'f', 'n', 'r', 't':
			return at
		}
	}
	for _, e := range [...]struct {
		begin  string
		digits int
	}{{`\u`, 4}, {`%`, 2}, {`\x`, 2}} {
		for begin := max(0, at-len(e.begin)-e.digits); begin < at; begin++ {
			hex := begin + len(e.begin)
			if hex+e.digits <= len(v) && string(v[begin:hex]) == e.begin && redactRun(v[:hex+e.digits], hex, redactHex) == hex+e.digits {
				return hex + e.digits
			}
		}
	}
	if v[at-1] == 'm' || v[at-1] == 'K' {
		i := at - 1
		for i > 0 && i > at-12 && (redactClass[v[i-1]]&redactDigit != 0 || v[i-1] == ';') {
			i--
		}
		if i > 0 && v[i-1] == '[' {
			return at
		}
	}
	return 0
}
