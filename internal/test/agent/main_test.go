// Package agent_test tests evidence, policies, approvals and the guard through the client, on real engines.
package agent_test

import (
	"os"
	"testing"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
