// Package deferred names the blocks of telemetry that wait in object storage until
// ClickHouse takes them.
package deferred

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/platform/blob"
)

// Prefix is where deferred blocks are in object storage. A block has the rows of its
// tables in the form that ClickHouse takes them, so that inserting it later needs no
// knowledge of what the columns mean.
const Prefix = "deferred/"

// Key sorts by time: what waited longest goes first.
func Key(at time.Time, token string) string {
	return fmt.Sprintf("%s%020d-%s", Prefix, at.UnixMicro(), token)
}

// Token is the token under which a deferred block was written first.
func Token(key string) string {
	return key[strings.LastIndexByte(key, '-')+1:]
}

// At is when a block was deferred; it is zero for a key that is not one
// of ours.
func At(key string) time.Time {
	number, _, _ := strings.Cut(strings.TrimPrefix(key, Prefix), "-")
	micros, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// Backlog remembers since when telemetry waits, as the last look at object
// storage found it.
type Backlog struct{ micros atomic.Int64 }

// Saw notes the oldest blocks.
func (b *Backlog) Saw(oldest []blob.Object) {
	var since int64
	if len(oldest) > 0 {
		if at := At(oldest[0].Key); !at.IsZero() {
			since = at.UnixMicro()
		}
	}
	b.micros.Store(since)
}

// Since is when the oldest block was deferred that waits, zero if none does.
func (b *Backlog) Since() time.Time {
	if at := b.micros.Load(); at != 0 {
		return time.UnixMicro(at).UTC()
	}
	return time.Time{}
}
