package redact

// Card numbers have 13 to 19 digits.
const (
	cardLeast = 13
	cardMost  = 19
)

// cardTable is how many digits a run of groups may have before it reads
// as a table of numbers, where four groups of four are no card number: two card
// numbers, a date and a code.
const cardTable = 48

// cardNear returns the first card number that fills three pairs of the
// word at i, and where the runs of digits end that were looked at.
func cardNear(v []byte, i, floor int) (card redactSpan, end int) {
	for end = max(i, floor); end <= i+2; {
		if v[end]-'0' > 9 {
			end++
			continue
		}
		var run redactDigits
		run.around(v, end, floor)
		if end = run.to; run.digits < cardLeast {
			continue
		}
		if from, to := run.card(v); to > 0 {
			return redactSpan{from, to, cardMark}, end
		}
	}
	return redactSpan{}, end
}

// redactDigits is a run of digits around a place, in groups with one space or
// dash between. It reaches reach to either side, and on to the end of the
// group there; beyond, it is a table in any case.
type redactDigits struct {
	from, to int
	digits   int
}

const reach = 2 * cardTable

func (r *redactDigits) around(v []byte, at, floor int) {
	from, to, joints := at, at+1, 0
	floor = max(floor, at-reach)
	for ; to < len(v); to++ {
		if v[to]-'0' <= 9 {
			continue
		}
		if !redactJoint(v[to]) || to+1 == len(v) || v[to+1]-'0' > 9 || to-at > reach {
			break
		}
		joints++
	}
	for ; from > floor; from-- {
		if v[from-1]-'0' <= 9 {
			continue
		}
		if !redactJoint(v[from-1]) || from-2 < floor || v[from-2]-'0' > 9 {
			break
		}
		joints++
	}
	r.from, r.to, r.digits = from, to, to-from-joints
	if r.digits >= cardLeast && r.from > 0 {
		if end := redactEscape(v, r.from); end > r.from && end < r.to {
			r.digits -= end - r.from
			r.from = end
		}
	}
}

func redactJoint(b byte) bool { return b == ' ' || b == '-' }

// card returns the first card number of the run, the longest that begins there.
func (r *redactDigits) card(v []byte) (from, to int) {
	table := r.digits > cardTable
	for from = r.from; from < r.to; {
		end := redactRun(v[:r.to], from, redactDigit)
		if (!table || end-from >= cardLeast) && cardBegins(v, from) {
			if to = r.cardAt(v, from); to > 0 {
				return from, to
			}
		}
		from = end + 1
	}
	return 0, 0
}

// cardAt returns where the longest card number ends that begins at from, or 0.
func (r *redactDigits) cardAt(v []byte, from int) (to int) {
	var number [cardMost]byte
	var groups [cardMost]int
	var joint byte
	digits, n := 0, 0
	for at := from; ; at++ {
		end := redactRun(v[:r.to], at, redactDigit)
		if digits+end-at > cardMost {
			return to
		}
		for _, b := range v[at:end] {
			number[digits] = b - '0'
			digits++
		}
		groups[n] = end - at
		n++
		if digits >= cardLeast && cardBrand(number[:digits], n > 1) && luhn(number[:digits]) && cardEnds(v, end) &&
			(n == 1 || cardGroups(groups[:n], from == r.from && end == r.to) && r.alone(v, from, end)) {
			to = end
		}
		if end == r.to || joint != 0 && v[end] != joint || r.digits > cardTable {
			return to
		}
		joint = v[end]
		at = end
	}
}

// alone reports whether what else is in the run may stand beside the groups of
// a card number: the number of its line before it, a date and a code or another
// card number after it. Otherwise the groups are numbers in a row.
func (r *redactDigits) alone(v []byte, from, to int) bool {
	if from-r.from > len("12 ") {
		return false
	}
	for at, n := to+1, 0; at < r.to; n++ {
		end := redactRun(v[:r.to], at, redactDigit)
		month := end-at == 4 && "01" <= string(v[at:at+2]) && string(v[at:at+2]) <= "12"
		if n == 3 || end-at > 3 && !month {
			rest := redactDigits{from: at, to: r.to, digits: r.digits}
			return n == 0 && rest.cardAt(v, at) > 0
		}
		at = end + 1
	}
	return true
}

// cardGroups reports whether people write card numbers in such groups. A
// run that is nothing else may also be cut in other ways, or spelt digit by
// digit as speech is.
func cardGroups(groups []int, whole bool) bool {
	last := len(groups) - 1
	fours, ones, large := groups[last] <= 5, groups[last] == 1, true
	for _, n := range groups[:last] {
		fours = fours && n == 4
		ones = ones && n == 1
		large = large && n >= 3
	}
	if fours || whole && (ones || large) {
		return true
	}
	return groups[0] == 4 && last == 2 && groups[1] == 6 && groups[2] <= 5 // American Express, Diners Club
}

// cardBegins reports whether a number may begin at at: not in the middle
// of a word, an identifier, a fraction, a telephone number or a negative number.
func cardBegins(v []byte, at int) bool {
	if at == 0 {
		return true
	}
	switch b := v[at-1]; {
	case redactClass[b]&alnum != 0:
		return redactEscape(v, at) == at
	case b == '_', b == '+', b == '-':
		return false
	case b == '.':
		return at >= 2 && redactClass[v[at-2]]&redactLetter != 0
	}
	return true
}

// cardEnds is the same for the end.
func cardEnds(v []byte, at int) bool {
	if at == len(v) {
		return true
	}
	switch b := v[at]; {
	case redactClass[b]&(alnum|low) != 0:
		return false
	case b == '.':
		return at+1 == len(v) || redactClass[v[at+1]]&redactDigit == 0
	case b == '-':
		return at+1 == len(v) || redactClass[v[at+1]]&alnum == 0
	}
	return true
}

// cardBrand reports whether a brand issues numbers with this beginning
// and length. Visa's of 19 digits count only in groups: that long and with that
// beginning is also one in nine of the span ids that some tracers write in
// decimal.
func cardBrand(d []byte, grouped bool) bool {
	n := len(d)
	four := int(d[0])*1000 + int(d[1])*100 + int(d[2])*10 + int(d[3])
	in := func(from, to int) bool { return from <= four && four <= to }
	switch {
	case in(4000, 4999): // Visa
		return n == 13 || n == 16 || n == 19 && grouped
	case in(5100, 5599), in(2221, 2720), in(2200, 2204): // Mastercard, Mir
		return n == 16
	case in(3400, 3499), in(3700, 3799): // American Express
		return n == 15
	case in(3000, 3059), in(3095, 3095), in(3600, 3699), in(3800, 3999): // Diners Club
		return n == 14 || n == 16
	case in(3528, 3589), in(6011, 6011), in(6440, 6499), in(6500, 6599), in(5080, 5089): // JCB, Discover, RuPay
		return n == 16
	case in(6200, 6299): // UnionPay
		return n >= 16
	case four == 5018, four == 5020, four == 5038, four == 5893, four == 6304, four == 6759, in(6761, 6763): // Maestro
		return true
	}
	return false
}

// luhn reports whether the last digit checks the others.
func luhn(d []byte) bool {
	sum := 0
	for i, b := range d {
		if (len(d)-i)%2 == 0 {
			b *= 2
			if b > 9 {
				b -= 9
			}
		}
		sum += int(b)
	}
	return sum%10 == 0
}
