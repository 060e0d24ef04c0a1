package correction

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// VarianceRatio is the variance of the corrected mean divided by that of the
// labels alone, if judge and people correlate so much.
func VarianceRatio(correlation float64, labels, unlabelled int) float64 {
	if unlabelled <= 0 {
		return 1
	}
	return 1 - correlation*correlation*float64(unlabelled)/float64(labels+unlabelled)
}

// Labels is how many labels an interval takes.
type Labels struct {
	WithJudge float64 `json:"with_judge"`
	HumanOnly float64 `json:"human_only"`
}

// LabelsFor plans an interval of a half-width, for labels of a variance, a judge
// that correlates with people so much, and a number of unlabelled items.
func LabelsFor(correlation, variance, halfWidth float64, unlabelled int, o stat.Options) (Labels, error) {
	o, err := o.Checked()
	if err != nil {
		return Labels{}, err
	}
	if !(math.Abs(correlation) <= 1) || !(variance > 0 && variance <= maxScore) || !(halfWidth > 0 && halfWidth <= maxScore) || unlabelled < 0 {
		return Labels{}, malformed("correlation %v, variance %v, half-width %v, %d unlabelled items", correlation, variance, halfWidth, unlabelled)
	}
	z := stat.NormalCritical(o.Alpha())
	alone := z * z * variance / (halfWidth * halfWidth)
	// n = alone (1 - r²N/(n+N)) is a quadratic equation with one positive root.
	r, n := correlation*correlation, float64(unlabelled)
	b := n - alone
	c := alone * n * (1 - r)
	with := (-b + math.Sqrt(b*b+4*c)) / 2
	return Labels{WithJudge: with, HumanOnly: alone}, nil
}
