package judge

import "github.com/assayhq/assay/internal/platform/failpoint"

// The points of a single evaluation, in the order in which it passes them.
const (
	Answered failpoint.Point = "judge_answered" // the model has answered and is paid, nothing is recorded
	Recorded failpoint.Point = "judge_recorded" // the result will last, it cannot be read yet
)

// Failpoints lists the points of a single evaluation.
func Failpoints() []failpoint.Point { return []failpoint.Point{Answered, Recorded} }
