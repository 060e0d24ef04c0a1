// Package tenancy_test tests organizations, their members and keys, and erasure through the client, on real engines.
package tenancy_test

import (
	"os"
	"testing"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
