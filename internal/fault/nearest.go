package fault

// near is how many edits apart two names may be for one to be a slip of the other.
const near = 3

// Nearest is the one of the known names that a misspelt name was probably meant to
// be; empty if none is near.
func Nearest(name string, known []string) string {
	closest, best := "", min(near, max(1, len(name)/2))+1
	for _, k := range known {
		if d := distance(name, k); d < best {
			closest, best = k, d
		}
	}
	return closest
}

// distance counts the edits between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		previous := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := previous
			if a[i-1] != b[j-1] {
				cost = 1 + min(previous, row[j], row[j-1])
			}
			previous, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}
