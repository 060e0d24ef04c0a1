package stat

import "math"

// The narrowest and widest levels that an interval may be asked for. The widest
// leaves room for many intervals that are to hold together.
const (
	minLevel     = 0.80
	maxLevel     = 0.999999
	defaultLevel = 0.95
)

const (
	defaultReplicates = 2000
	maxReplicates     = 1_000_000
)

// Checked fills in the defaults and refuses what makes no sense.
func (o Options) Checked() (Options, error) {
	if o.Level == 0 {
		o.Level = defaultLevel
	}
	if o.Estimand == "" {
		o.Estimand = EstimandPopulation
	}
	if o.Missing == "" {
		o.Missing = MissingExclude
	}
	if o.Policy == "" {
		o.Policy = PolicyDisplay
	}
	if o.Replicates == 0 {
		o.Replicates = defaultReplicates
	}
	switch {
	case !(o.Level >= minLevel && o.Level <= maxLevel):
		return o, inputErrorf("level %v must lie between %v and %v", o.Level, minLevel, maxLevel)
	case o.Estimand != EstimandPopulation && o.Estimand != EstimandDataset:
		return o, inputErrorf("estimand %q must be population or dataset", o.Estimand)
	case o.Missing != MissingExclude && o.Missing != MissingFail && o.Missing != MissingBounds:
		return o, inputErrorf("missing %q must be exclude, fail or bounds", o.Missing)
	case o.Missing != MissingExclude && o.Range == nil:
		return o, inputErrorf("missing %q needs the range of the scores", o.Missing)
	case o.Missing == MissingBounds && (o.Estimand == EstimandDataset || o.Method == MethodBCa || o.Method == MethodPercentile):
		return o, inputErrorf("missing %q is not available with a bootstrap or for the dataset's own mean", o.Missing)
	case o.Policy != PolicyDisplay && o.Policy != PolicyGate:
		return o, inputErrorf("policy %q must be display or gate", o.Policy)
	case o.Side != SideBoth && o.Side != SideLower && o.Side != SideUpper:
		return o, inputErrorf("side %q must be lower, upper or empty", o.Side)
	case o.Range != nil && !o.Range.sound():
		return o, inputErrorf("range from %v to %v is none", o.Range.Lower, o.Range.Upper)
	case !(o.CostRatio >= 0 && o.CostRatio <= maxScore):
		return o, inputErrorf("cost ratio %v must be a number of at least 0", o.CostRatio)
	case o.Replicates < 100 || o.Replicates > maxReplicates:
		return o, inputErrorf("replicates %d must lie between 100 and %d", o.Replicates, maxReplicates)
	}
	return o, nil
}

func (r Range) sound() bool {
	return r.Lower < r.Upper && math.Abs(r.Lower) <= maxScore && math.Abs(r.Upper) <= maxScore
}

// Alpha is what an interval may miss.
func (o Options) Alpha() float64 { return 1 - o.Level }

// allows refuses a method that a function does not know.
func (o Options) allows(methods ...Method) error {
	for _, m := range methods {
		if o.Method == m {
			return nil
		}
	}
	return inputErrorf("method %q is not available here", o.Method)
}

// Estimate begins an estimate with what the options say about it.
func (o Options) Estimate(method string) Estimate {
	return Estimate{
		Status: StatusOK, Source: o.source.And(SourceCode), Estimand: o.Estimand, Method: method, AlgoVersion: AlgoVersion,
	}
}
