package evidence_test

import "github.com/assayhq/assay/internal/fault"

// reason is why a request was refused; empty if it was not.
func reason(err error) string {
	f, ok := fault.From(err)
	if !ok {
		return ""
	}
	return f.Reason
}
