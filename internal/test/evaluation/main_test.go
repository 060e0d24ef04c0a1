// Package evaluation_test tests evaluations, their runs and decisions through the client, on real engines.
package evaluation_test

import (
	"os"
	"testing"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
