package stat

import "math"

// sum adds numbers and rounds once, at the end. The order of the numbers does
// not change the result, which is why the order of rows does not either.
//
// It keeps the exact sum as a list of numbers whose digits do not overlap, the
// smallest first; two or three are enough for scores of like size.
type sum struct{ parts []float64 }

func (s *sum) add(x float64) {
	kept := 0
	for _, y := range s.parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 {
			s.parts[kept] = low
			kept++
		}
		x = high
	}
	s.parts = append(s.parts[:kept], x)
}

// total returns the sum, rounded to the nearest number. The sum stays usable.
func (s *sum) total() float64 {
	n := len(s.parts) - 1
	if n < 0 {
		return 0
	}
	high, low := s.parts[n], 0.0
	for n--; n >= 0 && low == 0; n-- {
		x, y := high, s.parts[n]
		high = x + y
		low = y - (high - x)
	}
	// A tie was rounded to even; what lies further down may break it.
	if n >= 0 && low != 0 && (low < 0) == (s.parts[n] < 0) {
		if twice := low * 2; high+twice-high == twice {
			high += twice
		}
	}
	return high
}

func (s *sum) reset() { s.parts = s.parts[:0] }

// manyTerms is the number of terms from which a longSum is quicker.
const manyTerms = 100

// longSum gives what sum gives, for many numbers in little time. It adds their
// digits into fixed places of 32 bits, with room above each for the carries of
// a thousand additions. A place may be negative, so that a small sum
// leaves the high ones alone.
type longSum struct {
	places [67]int64 // the first counts multiples of 2^-1075
	added  int
}

func (s *longSum) add(x float64) {
	bits := math.Float64bits(x)
	exponent, digits := int(bits>>52&0x7ff), int64(bits&(1<<52-1))
	if exponent == 0 {
		exponent = 1
	} else {
		digits |= 1 << 52
	}
	place, shift := exponent>>5, exponent&31
	low, high := digits<<shift&(1<<32-1), digits>>(32-shift)
	if bits>>63 == 1 {
		low, high = -low, -high
	}
	s.places[place] += low
	s.places[place+1] += high
	if s.added++; s.added == 1000 {
		s.carry()
	}
}

func (s *longSum) carry() {
	for i := range len(s.places) - 1 {
		carry := (s.places[i] + 1<<31) >> 32
		s.places[i+1] += carry
		s.places[i] -= carry << 32
	}
	s.added = 0
}

func (s *longSum) total() float64 {
	s.carry()
	var out sum
	for i, p := range s.places {
		if p != 0 {
			out.add(math.Ldexp(float64(p), 32*i-1075))
		}
	}
	return out.total()
}

// SumOf returns the sum of f over 0..n-1.
func SumOf(n int, f func(i int) float64) float64 {
	if n >= manyTerms {
		var s longSum
		for i := range n {
			s.add(f(i))
		}
		return s.total()
	}
	var s sum
	for i := range n {
		s.add(f(i))
	}
	return s.total()
}

func total(xs []float64) float64 { return SumOf(len(xs), func(i int) float64 { return xs[i] }) }

// extent returns the smallest and the largest of at least one number.
func extent(xs []float64) (low, high float64) {
	low, high = xs[0], xs[0]
	for _, x := range xs {
		if x < low {
			low = x
		}
		if x > high {
			high = x
		}
	}
	return low, high
}

// largest returns the largest distance from zero of at least one number.
func largest(xs []float64) float64 {
	low, high := extent(xs)
	return math.Max(math.Abs(low), math.Abs(high))
}
