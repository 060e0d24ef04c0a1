// Package telemetry_test tests traces and their spans through the client, on real engines.
package telemetry_test

import (
	"os"
	"testing"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
