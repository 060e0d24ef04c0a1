package engine

// lists is what the lists of a question can cost. A set of Cedar finds an element by its hash,
// and hashes can be made to collide, so that each element may have to be compared with each
// other: with those that the elements have inside, these are pairs.
type lists struct {
	pairs    int // in all lists
	elements int // what it takes to compare one value with each element of all lists
}

// add counts a list of n elements with so many values in and inside them. Each is the sum of
// what it takes to compare an element with another. It returns what it takes to compare the list.
func (l *lists) add(n, each, values int) (pairs int, err error) {
	most := values * values // two values are compared once, however deep they are
	l.pairs += min(n*each, most)
	l.elements += min(each, most)
	if l.pairs > maxPairs {
		return 0, errLists
	}
	return min(n*each, 1<<32), nil // lists inside each other multiply: this much is too much anyway
}
