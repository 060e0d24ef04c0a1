package runstat

import (
	"fmt"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Repeated is what k trials of an item come to.
type Repeated struct {
	K   int           `json:"k" doc:"Number of trials."`
	Any stat.Estimate `json:"any" doc:"pass@k: the chance that at least one of k trials of an item passes."`
	All stat.Estimate `json:"all" doc:"pass^k: the chance that all of k trials of an item pass."`
}

// repeated are the chances for two trials, twice as many and so on, up to as many
// as each item had. A trial without an outcome has not passed.
func repeated(rows *Rows) (all []Repeated, err error) {
	trials := stat.TrialsOf(rows.Passes, stat.MissingFail)
	most := 0
	for _, t := range trials {
		most = max(most, t.N)
	}
	for k := 2; k <= most; k++ {
		if k&(k-1) != 0 && k != most {
			continue
		}
		one := Repeated{K: k}
		o := stat.Options{Range: stat.Unit()}
		if one.Any, err = abstaining(stat.PassAtK(trials, k, false, o)); err == nil {
			one.All, err = abstaining(stat.PassAtK(trials, k, true, o))
		}
		if err != nil {
			return nil, fmt.Errorf("%d trials: %w", k, err)
		}
		all = append(all, one)
	}
	return all, nil
}
