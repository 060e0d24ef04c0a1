package progress

import "github.com/assayhq/assay/internal/evaluation/result"

// Prefix adds up the finished chunks that come first in the random order of a run.
func Prefix(chunks []result.Count) (prefix result.Count) {
	for i, c := range chunks {
		// One that is missing has stored nothing yet.
		if c.Chunk != i || c.Done < c.Size {
			break
		}
		prefix = prefix.Plus(c)
	}
	return prefix
}
