package consensus

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Drawn reports whether an item is drawn for an audit. Its names alone decide, so
// that asking again gives the same answer, and a rule with a higher probability
// keeps whatever a lower one drew.
func Drawn(organization, task, item string, probability float64) bool {
	sum := sha256.New()
	for _, name := range []string{"audit", organization, task, item} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(name)))
		sum.Write(size[:])
		sum.Write([]byte(name))
	}
	const digits = 53 // of a float64
	number := binary.BigEndian.Uint64(sum.Sum(nil)) >> (64 - digits)
	return float64(number)/(1<<digits) < probability
}

// Unseen is what an audit says about the items that nobody looked at.
type Unseen struct {
	Items  int           `json:"items" doc:"Items that no rule sent to a person, audited or not."`
	Errors stat.Estimate `json:"error_rate" doc:"Share of them whose label is wrong, as those that were drawn at random show."`
	// Wrong is how many that makes.
	Wrong *float64 `json:"expected_errors" doc:"How many wrong labels that makes among them; null without an audit."`
}

// Audit estimates the errors of items that no rule sends to a person. Of those,
// so many were drawn and decided by a person, and so many had another label
// before.
func Audit(items, decided, wrong int, level float64) (Unseen, error) {
	if decided > items {
		return Unseen{}, malformed("%d of %d items were decided", decided, items)
	}
	e, err := stat.Proportion(wrong, decided, stat.Options{Level: level})
	if err != nil {
		return Unseen{}, err
	}
	e.Method, e.Source = "audit_error_rate", stat.SourceHuman
	out := Unseen{Items: items}
	if e.Value == nil {
		e.Warnings = nil
		e.Abstain(stat.StatusInsufficient, "nothing was audited yet")
	} else {
		expected := *e.Value * float64(items)
		out.Wrong = &expected
	}
	out.Errors = e
	return out, nil
}
