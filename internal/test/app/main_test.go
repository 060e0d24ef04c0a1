// Package app_test tests the application as a whole: its commands, its document and what holds for every operation through the client, on real engines.
package app_test

import (
	"os"
	"testing"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
