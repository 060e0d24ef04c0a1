package judge

import (
	"context"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/score"
)

// How much is copied at once.
const (
	copyParts  = 500
	copyScores = 100_000 // of so many parts, in both runs: more than judges a run can have
)

// Copy stores what judges said about some parts of a run as what they said about those
// of another, which has the same answers, unless they said something about these too.
// The copies have numbers of their own.
func (s *Service) Copy(ctx context.Context, org principal.OrgID, from, to int64, parts []string) error {
	for some := range slices.Chunk(parts, copyParts) {
		if err := s.copySome(ctx, org, strconv.FormatInt(from, 10), strconv.FormatInt(to, 10), some); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) copySome(ctx context.Context, org principal.OrgID, from, to string, parts []string) error {
	found, err := s.scores.List(ctx, org, score.Filter{Kinds: []score.Kind{score.KindRunItem}, IDs: []string{from, to}, Parts: parts, Prefix: MetricPrefix}, copyScores)
	if err != nil {
		return err
	}
	type said struct {
		part    string
		source  score.Source
		version int64
	}
	of := func(one score.Score) said { return said{one.Subject.Part, one.Source, one.ConfigVersion} }
	there := map[said]bool{}
	for _, one := range found {
		if one.Subject.ID == to {
			there[of(one)] = true
		}
	}
	copies := slices.DeleteFunc(found, func(one score.Score) bool {
		return one.Subject.ID == to || one.Source.Kind != score.SourceJudge || there[of(one)]
	})
	if len(copies) == 0 {
		return nil
	}
	ids, err := s.IDs(ctx, org, len(copies))
	if err != nil {
		return err
	}
	for i := range copies {
		copies[i].Subject.ID, copies[i].Record = to, ids[i]
	}
	return s.scores.Insert(ctx, org, copies...)
}
