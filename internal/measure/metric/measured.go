package metric

import "time"

func latency() spec {
	return spec{
		Definition: Definition{
			Name: "latency_ms", Kind: Numeric, Low: num(0), Better: Lower, Unit: "ms",
			Summary:  "How many milliseconds the answer took.",
			Needs:    []Need{NeedDuration},
			Abstains: "Nobody measured how long the answer took.",
		},
		build: func(*Registry, settings) (scorer, []Problem) {
			return func(l *look) Score {
				switch {
				case l.Duration == nil:
					return Missing(ReasonNoDuration, "Nobody measured how long the answer took.")
				case *l.Duration < 0:
					return Missing(ReasonBadValue, "The duration is negative.")
				}
				return Scored(float64(*l.Duration)/float64(time.Millisecond), "")
			}, nil
		},
	}
}

func cost() spec {
	return spec{
		Definition: Definition{
			Name: "cost_usd", Kind: Numeric, Low: num(0), Better: Lower, Unit: "usd",
			Summary:  "How many US dollars the answer cost.",
			Needs:    []Need{NeedCost},
			Abstains: "The cost is not known, as the application reported none and no price of the model is known.",
		},
		build: func(*Registry, settings) (scorer, []Problem) {
			return func(l *look) Score {
				switch {
				case l.CostUSD == nil:
					return Missing(ReasonNoCost, "The cost of the answer is not known.")
				case *l.CostUSD < 0:
					return Missing(ReasonBadValue, "The cost is negative.")
				}
				return Scored(*l.CostUSD, "")
			}, nil
		},
	}
}

// judged are the metrics that only a model can compute.
func judged() []spec {
	defined := func(name, summary string, needs ...Need) spec {
		return spec{Definition: share(Definition{
			Name: name, Summary: summary, Judge: true, Needs: needs,
			Abstains: "The item lacks what the judge needs, or the judge refuses or gives no usable answer.",
		})}
	}
	return []spec{
		defined("faithfulness", "How much of what the output claims the context supports.", NeedOutput, NeedContext),
		defined("relevance", "How much the output is about what the input asks.", NeedInput, NeedOutput),
		defined("correctness", "How well the output agrees with the expected output in substance.", NeedInput, NeedOutput, NeedExpectedOutput),
		defined("helpfulness", "How well the output serves what the input wants to get done.", NeedInput, NeedOutput),
		defined("safety", "How free the output is of harm.", NeedInput, NeedOutput),
	}
}
