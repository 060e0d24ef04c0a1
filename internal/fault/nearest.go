package fault

import "strings"

// Nearest is the name that was probably meant, empty if none is near. Case,
// underscores and hyphens do not count.
func Nearest(name string, all []string) string {
	if len(name) > maxName {
		return ""
	}
	name = letters(name)
	nearest, best := "", max(1, 2*len(name)/5)+1
	for _, one := range all {
		if d := edits(name, letters(one)); d < best {
			nearest, best = one, d
		}
	}
	return nearest
}

// maxName is the longest name that is compared: the time that it takes grows with it.
const maxName = 100

var noLetters = strings.NewReplacer("_", "", "-", "", " ", "")

func letters(name string) string { return noLetters.Replace(strings.ToLower(name)) }

// edits counts the letters to add, remove or replace between two names.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
