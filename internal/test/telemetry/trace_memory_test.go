package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// heap is what the process holds, as the runtime counts it.
func heap() int {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// TestASmallBodyTakesLittleMemory sends 8 MiB of spans without content, which
// gzip makes a thousand times smaller.
//
//nolint:paralleltest // it measures the memory of the process
func TestASmallBodyTakesLittleMemory(t *testing.T) {
	cfg := testkit.Config(t)
	cfg.Plan.SpansHour, cfg.Plan.BytesHour, cfg.HTTP.RequestTimeout = 1<<40, 1<<50, 5*time.Minute
	us := testkit.NewWith(t, cfg).Org(t)
	const size = 8 << 20
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, `{"resourceSpans":[{"scopeSpans":[{"spans":[{}`+strings.Repeat(`,{}`, size/3)+`]}]}]}`)
	require.NoError(t, z.Close())
	require.Less(t, zipped.Len(), 20<<10)

	for range 3 {
		before := heap()
		done, most := make(chan struct{}), make(chan int)
		go func() {
			high := 0
			for {
				select {
				case <-done:
					most <- high
					return
				default:
					high = max(high, heap())
					time.Sleep(time.Millisecond)
				}
			}
		}()
		res, err := us.Send(t.Context(), http.MethodPost, "/v1/traces", bytes.NewReader(zipped.Bytes()), testkit.Header("Content-Type", "application/json"), testkit.Header("Content-Encoding", "gzip"))
		close(done)
		high := <-most
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.Status)
		require.Contains(t, string(res.Body), "rejectedSpans")
		t.Logf("%d bytes on the wire, %d MiB in memory", zipped.Len(), (high-before)>>20)
		require.Less(t, high-before, 8*size)
	}
}
