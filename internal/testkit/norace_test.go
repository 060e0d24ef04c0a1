//go:build !race

package testkit_test

import "time"

// quick leaves room for a busy machine; on a quiet one a kit takes 100 ms.
const quick = 250 * time.Millisecond
