package client

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	f := &follower{seen: map[string]*seen{}}
	for n := range maxSeen + 1 {
		f.seen[strconv.Itoa(n)] = &seen{start: now.Add(time.Duration(n) * time.Millisecond), met: now, ended: true}
	}

	f.finish(now, 1)

	require.Len(t, f.seen, maxSeen/2+1)
	require.Contains(t, f.seen, strconv.Itoa(maxSeen), "the newest stay")

	f.seen["running"] = &seen{start: now, met: now}
	f.finish(now.Add(window), 1)
	require.Len(t, f.seen, maxSeen/2+2, "they are kept for a while")
	f.finish(now.Add(window+time.Second), 1)
	require.Len(t, f.seen, 1, "one that runs is waited for")
}
