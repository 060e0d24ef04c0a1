package rule

import "github.com/assayhq/assay/internal/telemetry/trace"

// storedFilter is a filter as rules and back-fills are stored with it.
type storedFilter struct {
	Status []trace.Status `json:"status,omitzero"`
	trace.FilterBody
}

func toStored(f trace.Filter) storedFilter { return storedFilter{f.Status, trace.ToFilterBody(f)} }

func (s storedFilter) filter() trace.Filter {
	f := s.FilterBody.Filter()
	f.Status = s.Status
	return f
}
