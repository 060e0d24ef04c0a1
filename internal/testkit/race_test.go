//go:build race

package testkit_test

import "time"

// quick is generous under the race detector, which makes everything slower.
const quick = 30 * time.Second
