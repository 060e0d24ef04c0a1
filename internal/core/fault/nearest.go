package fault

import (
	"strings"
	"unicode/utf8"
)

// maxName is how many bytes a name has at most that is compared: the time that it takes grows
// with it.
const maxName = 128

// Nearest is the name that was probably meant, empty if none is near. Case, underscores, hyphens,
// dots and spaces do not count.
func Nearest(name string, all []string) string {
	return NearestWithin(name, all, func(letters int) int { return max(1, 2*letters/5) })
}

// NearestWithin is Nearest for callers that say how many letters a typo changes at most in a name
// with so many.
func NearestWithin(name string, all []string, tolerance func(letters int) int) string {
	if len(name) > maxName {
		return ""
	}
	name = letters(name)
	nearest, distance := "", tolerance(utf8.RuneCountInString(name))+1
	for _, one := range all {
		if len(one) > maxName {
			continue
		}
		if d := apart(name, letters(one), distance); d < distance {
			nearest, distance = one, d
		}
	}
	return nearest
}

var noLetters = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

func letters(name string) string { return noLetters.Replace(strings.ToLower(name)) }

// apart is how many characters must be added, removed, replaced or swapped with the next to
// make one name from the other, or the limit if it is not less. It only looks at what can still
// be less, and ends when nothing can.
func apart(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) >= limit || len(y)-len(x) >= limit {
		return limit
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		before[j], last[j], row[j] = limit, limit, min(limit, j)
	}
	for i := 1; i <= len(x); i++ {
		before, last, row = last, row, before
		from, to := max(1, i-limit), min(len(y), i+limit)
		row[from-1] = limit
		if from == 1 {
			row[0] = min(limit, i)
		}
		least := row[from-1]
		for j := from; j <= to; j++ {
			changed := 1
			if x[i-1] == y[j-1] {
				changed = 0
			}
			row[j] = min(limit, last[j-1]+changed, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if to < len(y) {
			row[to+1] = limit
		}
		if least >= limit {
			return limit
		}
	}
	return row[len(y)]
}
