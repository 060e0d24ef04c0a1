package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

// measured are how many requests of an operation were measured, by their status.
func measured(t *testing.T, reader metric.Reader, operation string) map[int64]uint64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	counts := map[int64]uint64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != "http.server.request.duration" {
				continue
			}
			for _, point := range m.Data.(metricdata.Histogram[float64]).DataPoints {
				if name, _ := point.Attributes.Value("operation"); name == attribute.StringValue(operation) {
					status, _ := point.Attributes.Value("http.response.status_code")
					counts[status.AsInt64()] += point.Count
				}
			}
		}
	}
	return counts
}

func TestAStreamThatIsCutOffIsMeasured(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	var seen []httpapi.Outcome
	e := httpapi.New(httpapi.Options{
		Config: config(), Now: time.Now, Observe: func(o httpapi.Outcome) { seen = append(seen, o) },
		Authenticate: func(context.Context, string) (principal.Caller, error) {
			return principal.Caller{Org: principal.NewOrgID(), Scopes: principal.Scopes}, nil
		},
	})
	e.Tag("Things", "What these tests are about.")
	httpapi.Register(e, httpapi.Op{
		ID: "cutOff", Method: "GET", Path: "/cut-off", Tag: "Things", Summary: "Cut off", Scope: principal.EvalRead, Status: 200, ContentType: httpapi.MediaEvents,
	}, func(ctx context.Context, _ *struct{}) (*httpapi.Stream, error) {
		return httpapi.NewStream(ctx, nil, func(w io.Writer) error {
			_, _ = io.WriteString(w, "the beginning")
			return errors.New("the caller has left")
		}), nil
	})
	e.Seal()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/cut-off", nil)
	r.Header.Set("Authorization", "Bearer all")
	require.PanicsWithError(t, http.ErrAbortHandler.Error(), func() { e.ServeHTTP(httptest.NewRecorder(), r) }, "the connection is cut")

	require.Len(t, seen, 1)
	require.Equal(t, "cutOff", seen[0].Operation)
	require.Equal(t, http.StatusOK, seen[0].Status)
	require.Equal(t, map[int64]uint64{200: 1}, measured(t, reader, "cutOff"))
}

// TestAStreamEndsWithItsKey writes without an end: half a second after the key
// has ended nothing more is sent, and the connection is cut.
func TestAStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		e := httpapi.New(httpapi.Options{
			Config: httpapi.Config{RequestTimeout: time.Hour, ShutdownTimeout: time.Minute},
			Authenticate: func(ctx context.Context, token string) (principal.Caller, error) {
				if time.Since(start) >= 7*time.Second {
					return principal.Caller{}, errThing
				}
				return everybody(ctx, token)
			},
		})
		var last time.Duration
		httpapi.Register(e, httpapi.Op{
			ID: "export", Method: "GET", Path: "/export", Tag: "Things", Summary: "Export", Scope: principal.EvalRead, Status: 200, ContentType: "application/x-ndjson",
		}, func(ctx context.Context, _ *struct{}) (*httpapi.Stream, error) {
			return httpapi.NewStream(ctx, nil, func(w io.Writer) error {
				for {
					if _, err := io.WriteString(w, "{}\n"); err != nil {
						return err
					}
					last = time.Since(start)
					time.Sleep(50 * time.Millisecond)
				}
			}), nil
		})
		e.Seal()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/export", nil)
		r.Header.Set("Authorization", "Bearer all")
		require.PanicsWithError(t, http.ErrAbortHandler.Error(), func() { e.ServeHTTP(httptest.NewRecorder(), r) })
		require.GreaterOrEqual(t, last, 6900*time.Millisecond)
		require.LessOrEqual(t, last, 7500*time.Millisecond)
	})
}
