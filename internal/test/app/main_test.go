// Package app_test tests the application as a whole: its commands, its document and what holds for every operation through the client, on real engines.
package app_test

import (
	"os"
	"testing"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMain(m *testing.M) {
	if command := os.Getenv(commandVariable); command != "" {
		os.Exit(app.Main("v1.2.3", []string{command}, os.Environ(), os.Stdout, os.Stderr))
	}
	os.Exit(testkit.Main(m))
}
