package spandb

import (
	"fmt"
	"strings"
	"time"
)

// A deferred block is an object in object storage: the rows of its tables in
// the form that ClickHouse takes them, so that inserting it later needs no
// knowledge of what the columns mean.
const deferredPrefix = "deferred/"

// deferredKey sorts by time: what waited longest goes first.
func deferredKey(at time.Time, token string) string {
	return fmt.Sprintf("%s%020d-%s", deferredPrefix, at.UnixMicro(), token)
}

// blockName is the token under which a deferred block was written first.
func blockName(key string) string {
	return key[strings.LastIndexByte(key, '-')+1:]
}
