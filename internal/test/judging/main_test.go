// Package judging_test tests model providers, judges, rules, probes and watches through the client, on real engines.
package judging_test

import (
	"os"
	"testing"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
