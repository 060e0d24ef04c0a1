// Package review_test tests annotation, adjudication and the agreement of annotators through the client, on real engines.
package review_test

import (
	"os"
	"testing"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
