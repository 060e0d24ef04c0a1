package stat

import "math"

// fourfold counts what two runs did with the same items.
type fourfold struct {
	both, onlyB, onlyA, none float64
}

func (f fourfold) n() float64 { return f.both + f.onlyB + f.onlyA + f.none }

func (f fourfold) difference() float64 { return (f.onlyB - f.onlyA) / f.n() }

// newcombe returns the limits of the difference of two paired shares: Wilson's
// limits of the two, joined with their correlation.
func (f fourfold) newcombe(alpha float64) (lower, upper float64) {
	n, z := f.n(), normalCritical(alpha)
	p1, p2 := (f.both+f.onlyB)/n, (f.both+f.onlyA)/n
	l1, u1 := wilson(p1, n, z)
	l2, u2 := wilson(p2, n, z)
	phi, d := f.phi(), p1-p2
	return d - hypotenuse(p1-l1, u2-p2, phi), d + hypotenuse(p2-l2, u1-p1, phi)
}

// hypotenuse is the length of a-b for lengths a and b with that correlation.
func hypotenuse(a, b, correlation float64) float64 {
	return math.Sqrt(math.Max(0, a*a-2*correlation*a*b+b*b))
}

// phi is the correlation of the two runs, corrected for continuity.
func (f fourfold) phi() float64 {
	a := (f.both + f.onlyB) * (f.onlyA + f.none) * (f.both + f.onlyA) * (f.onlyB + f.none)
	if a == 0 {
		return 0
	}
	b := f.both*f.none - f.onlyB*f.onlyA
	if b > 0 {
		b = math.Max(b-f.n()/2, 0)
	}
	return b / math.Sqrt(a)
}

// tango returns the limits of the score interval of the difference: those
// values that a score test does not reject.
func (f fourfold) tango(alpha float64) (lower, upper float64) {
	n, z, d := f.n(), normalCritical(alpha), f.difference()
	if f.onlyA == 0 && f.onlyB == 0 {
		half := z * z / (z*z + n)
		return -half, half
	}
	score := func(delta float64) float64 {
		b := -f.onlyB - f.onlyA + (2*n-f.onlyB+f.onlyA)*delta
		c := -f.onlyA * delta * (1 - delta)
		q := (math.Sqrt(math.Max(0, b*b-8*n*c)) - b) / (4 * n)
		return (f.onlyB - f.onlyA - n*delta) / math.Sqrt(math.Max(0, n*(2*q+delta*(1-delta))))
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

// mcnemar returns the p-values of the discordant items, exact and with the
// observed outcome counted half.
func (f fourfold) mcnemar() (exact, midP float64) {
	n, k := f.onlyA+f.onlyB, math.Min(f.onlyA, f.onlyB)
	if n == 0 {
		return 1, 1
	}
	tail := 2 * binomialCDF(k, n, 0.5)
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
