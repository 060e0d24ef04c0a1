package judge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/score"
)

// NextLabels are answers for people to label, and how many are left.
type NextLabels struct {
	Results  []Result
	Labelled int
	Left     int
}

// NextLabels returns answers of a run, or of all, that have no label yet, in a random order that
// does not change: whoever labels from its beginning labels a random sample, which is
// what the correction of the judge's mean rests on.
//
// The order depends on the run and its items alone, neither on the judge's verdicts
// nor on which labels there are: an order that did would need to know how likely each
// choice was.
func (s *Service) NextLabels(ctx context.Context, org principal.OrgID, c Config, run int64, limit int) (NextLabels, error) {
	all, _, err := s.sample(ctx, org, c, c.Current, Selection{Run: run})
	if err != nil {
		return NextLabels{}, err
	}
	var out NextLabels
	slices.SortFunc(all, func(a, b *judged) int { return cmp.Compare(place(a.Subject), place(b.Subject)) })
	for _, j := range all {
		switch {
		case len(j.labels) > 0:
			out.Labelled++
		case j.Status != VerdictCompleted: // the correction knows nothing of it
		default:
			if out.Left++; len(out.Results) < limit {
				out.Results = append(out.Results, j.Result)
			}
		}
	}
	return out, nil
}

// place is where an answer stands in the order of labelling.
func place(of score.Subject) uint64 {
	sum := sha256.Sum256([]byte("label\x00" + of.ID + "\x00" + of.Part))
	return binary.BigEndian.Uint64(sum[:])
}
