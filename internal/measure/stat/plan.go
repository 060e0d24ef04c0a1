package stat

import "math"

// Plan computes how many items a study needs. The zero value plans for a level
// of 0.95, a power of 0.8 and independent items.
type Plan struct {
	Level        float64
	Power        float64
	DesignEffect float64 // of clustered items
}

func (p Plan) checked() (Plan, error) {
	if p.Level == 0 {
		p.Level = defaultLevel
	}
	if p.Power == 0 {
		p.Power = power
	}
	if p.DesignEffect == 0 {
		p.DesignEffect = 1
	}
	switch {
	case !(p.Level >= minLevel && p.Level <= maxLevel):
		return p, inputErrorf("level %v must lie between %v and %v", p.Level, minLevel, maxLevel)
	case !(p.Power >= 0.5 && p.Power <= maxLevel):
		return p, inputErrorf("power %v must lie between 0.5 and %v", p.Power, maxLevel)
	case !(p.DesignEffect > 0 && p.DesignEffect <= maxScore):
		return p, inputErrorf("design effect %v must be a number above 0", p.DesignEffect)
	}
	return p, nil
}

// PairedItems returns how many items find a mean difference of delta between
// two runs, when the differences of items have that standard deviation.
func (p Plan) PairedItems(sd, delta float64) (int, error) {
	p, err := p.checked()
	if err != nil {
		return 0, err
	}
	z := NormalCritical(1-p.Level) + NormalQuantile(p.Power)
	return p.items(pairedItems(sd, delta, z))
}

// NonInferiorItems returns how many items show that a run is at most a margin
// worse, when it is no worse at all.
func (p Plan) NonInferiorItems(sd, margin float64) (int, error) {
	p, err := p.checked()
	if err != nil {
		return 0, err
	}
	z := NormalQuantile(p.Level) + NormalQuantile(p.Power)
	return p.items(pairedItems(sd, margin, z))
}

// McNemarItems returns how many items find a difference of delta between two
// pass rates on the same items, when a share of the items is discordant.
func (p Plan) McNemarItems(discordant, delta float64) (int, error) {
	p, err := p.checked()
	if err != nil {
		return 0, err
	}
	return p.items(mcnemarItems(discordant, delta, NormalCritical(1-p.Level), NormalQuantile(p.Power)))
}

// RateItems returns how many items of each of two runs over different items
// find the difference between two pass rates.
func (p Plan) RateItems(rate1, rate2 float64) (int, error) {
	p, err := p.checked()
	if err != nil {
		return 0, err
	}
	return p.items(rateItems(rate1, rate2, NormalCritical(1-p.Level), NormalQuantile(p.Power)))
}

// PrecisionItems returns how many items put a pass rate within half a width.
func (p Plan) PrecisionItems(rate, half float64) (int, error) {
	p, err := p.checked()
	if err != nil {
		return 0, err
	}
	z := NormalCritical(1 - p.Level)
	return p.items(z * z * rate * (1 - rate) / (half * half))
}

// PairedSD returns the standard deviation of the differences of items: that of
// the true differences, and what the repetitions of either side leave.
func PairedSD(between, withinA, withinB float64, epochsA, epochsB int) float64 {
	return math.Sqrt(between + withinA/float64(max(1, epochsA)) + withinB/float64(max(1, epochsB)))
}

func pairedItems(sd, delta, z float64) float64 { return z * z * sd * sd / (delta * delta) }

func mcnemarItems(discordant, delta, z, zPower float64) float64 {
	root := z*math.Sqrt(discordant) + zPower*math.Sqrt(discordant-delta*delta)
	return root * root / (delta * delta)
}

func rateItems(p1, p2, z, zPower float64) float64 {
	mean := (p1 + p2) / 2
	root := z*math.Sqrt(2*mean*(1-mean)) + zPower*math.Sqrt(p1*(1-p1)+p2*(1-p2))
	return root * root / ((p1 - p2) * (p1 - p2))
}

// items rounds up. What is no number came from arguments that are none.
func (p Plan) items(n float64) (int, error) {
	n = math.Ceil(n * p.DesignEffect)
	if !(n >= 0 && n < 1e15) {
		return 0, inputErrorf("no number of items answers that")
	}
	return max(1, int(n)), nil
}
