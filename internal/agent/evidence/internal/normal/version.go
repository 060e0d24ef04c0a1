package normal

import (
	"maps"
	"slices"
)

// Versions are the mappings of this release.
func Versions() []string {
	return slices.Compact(slices.Sorted(maps.Values(versions)))
}
