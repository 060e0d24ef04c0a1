package telemetry_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/telemetry"
)

func TestALineIsNotRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := telemetry.Logger(telemetry.Config{LogLevel: "debug", LogFormat: "text"}, &out)
		for range 600 { // twice a second for five minutes
			log.Warn("outbox not read", "topics", "a")
			log.With("part", 1).Warn("outbox not read", "topics", "b")
			log.Warn("engine away", "check", "postgres")
			log.Warn("engine away", "check", "redis", "error", "gone")
			log.Error("request failed")
			time.Sleep(500 * time.Millisecond)
		}
		for range 100 {
			log.Debug("request")
		}
		lines := out.String()
		require.Equal(t, 5*2, strings.Count(lines, "outbox not read"))
		require.Equal(t, 5*2, strings.Count(lines, `"engine away" check=redis`))
		require.Equal(t, 600, strings.Count(lines, "request failed"), "each may be a different one")
		require.Equal(t, 100, strings.Count(lines, "msg=request\n"))
		require.Equal(t, 4, strings.Count(lines, "repeated=238"), "of 240 lines a minute")
		require.Equal(t, 8, strings.Count(lines, "repeated=118"), "of 120 lines a minute")
	})
}
