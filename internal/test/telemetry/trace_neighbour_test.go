package telemetry_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/testkit"
)

// quick is below what a neighbour took before, and far above what a create takes.
const quick = 10 * time.Second

// quiet creates traces for a while and requires that each is quick and stored,
// not deferred. On a machine that is slow for everybody, a bare insert of one row is the
// measure: a create may take as long as twenty of them.
func quiet(t *testing.T, k *testkit.Kit, us *testkit.Client, n int) {
	t.Helper()
	for range n {
		began := time.Now()
		made, err := us.CreateTrace(t.Context(), map[string]any{"name": "quiet"})
		took := time.Since(began)
		require.NoError(t, err)
		require.Empty(t, made.Response.Header.Get("X-Ingest"))
		if took > quick {
			require.Less(t, took, 20*bareInsert(t, k), "a bare insert takes a twentieth")
		}
	}
}

// importTime is how long a request with old spans may take to be stored.
const importTime = 25 * time.Second

// bareInsert is how long ClickHouse takes for a row of nobody's.
func bareInsert(t *testing.T, k *testkit.Kit) time.Duration {
	t.Helper()
	ch, err := clickhouse.Open(k.App.Config.ClickHouse)
	require.NoError(t, err)
	defer func() { _ = ch.Close() }()
	began := time.Now()
	require.NoError(t, ch.Writer().Exec(t.Context(), "INSERT INTO api_usage (org_id) SELECT generateUUIDv4()"))
	return time.Since(began)
}

// TestRedactionHoldsNobodyUp lets one organization use the most expensive rules
// that it may have, on texts for which they are worst.
func TestRedactionHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	loud, us := k.Org(t), k.Org(t)
	var rules []any
	for range 5 {
		rules = append(rules, map[string]any{"name": "x", "pattern": `[^ab]{0,240}[yz]`})
	}
	_, err := loud.UpdateOrganization(t.Context(), map[string]any{"redactionRules": rules})
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	for range 4 {
		sending.Go(func() {
			body := testkit.Spans(testkit.OTLPSpan{Trace: testkit.NewTraceID(), Name: "x", Start: time.Now(), Attributes: map[string]any{"text": strings.Repeat("c", 8<<20)}})
			_, _ = loud.Send(ctx, http.MethodPost, "/v1/traces", bytes.NewReader(body), testkit.Header("Content-Type", "application/x-protobuf"))
		})
	}
	quiet(t, k, us, 10)
	cancel()
	sending.Wait()
}

// TestManyDaysHoldNobodyUp sends spans that belong to 400 days, each a part on
// disk.
func TestManyDaysHoldNobodyUp(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	loud, us := k.Org(t), k.Org(t)
	quiet(t, k, us, 1)
	id, now := testkit.NewTraceID(), time.Now()
	const days = 400
	var spans []testkit.OTLPSpan
	for day := range days {
		spans = append(spans, testkit.OTLPSpan{Trace: id, Name: "then", Start: now.AddDate(0, 0, -day), Duration: time.Second, Attributes: map[string]any{"gen_ai.prompt": "x"}})
	}
	body := testkit.Spans(spans...)
	var accepted, refused, late atomic.Int64
	var sending sync.WaitGroup
	for range 3 {
		sending.Go(func() {
			began := time.Now()
			res, err := loud.Send(t.Context(), http.MethodPost, "/v1/traces", bytes.NewReader(body), testkit.Header("Content-Type", "application/x-protobuf"))
			switch {
			case err != nil:
				t.Error(err)
			case res.Status == http.StatusOK:
				accepted.Add(1)
			case res.Status != http.StatusServiceUnavailable || !strings.Contains(string(res.Body), "limited rate"):
				t.Errorf("refused with %d: %s", res.Status, res.Body)
			case time.Since(began) >= importTime:
				late.Add(1)
			default:
				refused.Add(1)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		sending.Wait()
	}()
	for ended := false; !ended; {
		quiet(t, k, us, 1)
		select {
		case <-done:
			ended = true
		default:
		}
	}
	// On a machine that is slow for everybody, the one that is let in may run out of time.
	// Its sender is asked to try again, and nothing that was stored is lost.
	require.EqualValues(t, 1, accepted.Load()+late.Load(), "one is let in")
	require.EqualValues(t, 2, refused.Load(), "the others find the queue full")
	if accepted.Load() == 1 {
		require.Equal(t, days, stored(t, k.App.Config.ClickHouse, loud).spans(id))
	}
}
