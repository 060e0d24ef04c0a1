package runstat

import (
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/report"
)

// Reported are metrics as a report shows them.
func Reported(definitions []metric.Definition) []report.Metric {
	all := make([]report.Metric, len(definitions))
	for i, d := range definitions {
		all[i] = report.Metric{Definition: d, Range: Range(d)}
	}
	return all
}

// Reported is the difference as a report shows it.
func (c Compared) Reported() report.Compared {
	return report.Compared{Name: c.Name, Better: c.Better, Role: string(c.Role), Comparison: c.Comparison}
}
