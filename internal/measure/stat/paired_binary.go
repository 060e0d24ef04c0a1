package stat

import "math"

// Fourfold counts what two runs did with the same items.
type Fourfold struct {
	Both, OnlyB, OnlyA, None float64
}

func (f Fourfold) n() float64 { return f.Both + f.OnlyB + f.OnlyA + f.None }

func (f Fourfold) difference() float64 { return (f.OnlyB - f.OnlyA) / f.n() }

// newcombe returns the limits of the difference of two paired shares: Wilson's
// limits of the two, joined with their correlation.
func (f Fourfold) newcombe(alpha float64) (lower, upper float64) {
	n, z := f.n(), NormalCritical(alpha)
	p1, p2 := (f.Both+f.OnlyB)/n, (f.Both+f.OnlyA)/n
	l1, u1 := Wilson(p1, n, z)
	l2, u2 := Wilson(p2, n, z)
	phi, d := f.phi(), p1-p2
	return d - hypotenuse(p1-l1, u2-p2, phi), d + hypotenuse(p2-l2, u1-p1, phi)
}

// hypotenuse is the length of a-b for lengths a and b with that correlation.
func hypotenuse(a, b, correlation float64) float64 {
	return math.Sqrt(math.Max(0, a*a-2*correlation*a*b+b*b))
}

// phi is the correlation of the two runs, corrected for continuity.
func (f Fourfold) phi() float64 {
	a := (f.Both + f.OnlyB) * (f.OnlyA + f.None) * (f.Both + f.OnlyA) * (f.OnlyB + f.None)
	if a == 0 {
		return 0
	}
	b := f.Both*f.None - f.OnlyB*f.OnlyA
	if b > 0 {
		b = math.Max(b-f.n()/2, 0)
	}
	return b / math.Sqrt(a)
}

// Tango returns the limits of the score interval of the difference: those
// values that a score test does not reject.
func (f Fourfold) Tango(alpha float64) (lower, upper float64) {
	n, z, d := f.n(), NormalCritical(alpha), f.difference()
	if f.OnlyA == 0 && f.OnlyB == 0 {
		half := z * z / (z*z + n)
		return -half, half
	}
	score := func(delta float64) float64 {
		b := -f.OnlyB - f.OnlyA + (2*n-f.OnlyB+f.OnlyA)*delta
		c := -f.OnlyA * delta * (1 - delta)
		q := (math.Sqrt(math.Max(0, b*b-8*n*c)) - b) / (4 * n)
		return (f.OnlyB - f.OnlyA - n*delta) / math.Sqrt(math.Max(0, n*(2*q+delta*(1-delta))))
	}
	lower, upper = -1, 1
	if d > -1 {
		lower = bisect(func(x float64) float64 { return score(x) - z }, -1, d)
	}
	if d < 1 {
		upper = bisect(func(x float64) float64 { return score(x) + z }, d, 1)
	}
	return lower, upper
}

// McNemar returns the p-values of the discordant items, exact and with the
// observed outcome counted half.
func (f Fourfold) McNemar() (exact, midP float64) {
	n, k := f.OnlyA+f.OnlyB, math.Min(f.OnlyA, f.OnlyB)
	if n == 0 {
		return 1, 1
	}
	tail := 2 * BinomialCDF(k, n, 0.5)
	return clampP(tail), clampP(tail - binomialPMF(k, n, 0.5))
}

// mover joins the limits of two independent estimates into those of their
// difference b-a.
func mover(a, b float64, of, to limits) limits {
	return func(alpha float64) (float64, float64) {
		la, ua := of(alpha)
		lb, ub := to(alpha)
		d := b - a
		return d - math.Hypot(b-lb, ua-a), d + math.Hypot(ub-b, a-la)
	}
}
