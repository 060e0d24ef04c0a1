package trace

import (
	"context"
	"net/http"
	"strconv"

	"github.com/VictoriaMetrics/easyproto"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/otlp"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// headerIngest tells a sender that what it sent is safe and not yet readable.
const headerIngest = "X-Ingest"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tag, "What applications and agents did, as traces of spans: lists and search, details, conversations, end users, metrics, export, feedback.")
	e.Tag(tagOTLP, "Ingestion over OpenTelemetry's own protocol, OTLP, as HTTP and as gRPC on port 4317.")
	s.registerNouns(e)
}

func (s *Service) registerOTLP(e *httpapi.Edge) {
	otlp.Register(e, otlp.Op{
		Op: httpapi.Op{
			ID: "sendTraces", Method: http.MethodPost, Path: "/v1/traces", Tag: tagOTLP, Scope: principal.TracesWrite, Status: 200,
			BodyLimit: httpapi.LargeBodyLimit, Metered: true,
			Summary: "Send spans",
			Description: "Takes an ExportTraceServiceRequest, also over gRPC on port 4317. 200 means that the accepted spans are stored and readable; " +
				"with the header `X-Ingest: deferred`, and a warning in `partialSuccess`, they are safe and become readable when ClickHouse is back. Rejected spans are counted in `partialSuccess`. " + startsInThePast +
				"Limits count spans and bytes, not requests.",
		},
		RPC: "opentelemetry.proto.collector.trace.v1.TraceService/Export", Message: "ExportTraceService", ContentTypes: []string{mediaProtobuf, mediaJSON},
	}, s.postTraces)
	otlp.Register(e, otlp.Op{
		Op: httpapi.Op{
			ID: "sendLangfuseTraces", Method: http.MethodPost, Path: "/api/public/otel/v1/traces", Tag: tagOTLP, Scope: principal.TracesWrite, Status: 200,
			BodyLimit: httpapi.LargeBodyLimit, Metered: true,
			Summary:     "Send spans as clients of Langfuse do",
			Description: "The same as `POST /v1/traces`, at the path that Langfuse's libraries use. They authenticate with Basic: the public key can be anything, the secret key is an API key.",
		},
		Message: "ExportTraceService", ContentTypes: []string{mediaProtobuf, mediaJSON},
	}, s.postTraces)
	otlp.Register(e, otlp.Op{
		Op: httpapi.Op{
			ID: "sendLogs", Method: http.MethodPost, Path: "/v1/logs", Tag: tagOTLP, Scope: principal.TracesWrite, Status: 200,
			BodyLimit: httpapi.LargeBodyLimit, Metered: true,
			Summary:     "Send log records",
			Description: "Takes an ExportLogsServiceRequest. Records that name a trace, such as `gen_ai.evaluation.result` events, become events of their span; others are rejected and counted in `partialSuccess`.",
		},
		RPC: "opentelemetry.proto.collector.logs.v1.LogsService/Export", Message: "ExportLogsService", ContentTypes: []string{mediaProtobuf, mediaJSON},
	}, s.postLogs)
	otlp.Register(e, otlp.Op{
		Op: httpapi.Op{
			ID: "sendMetrics", Method: http.MethodPost, Path: "/v1/metrics", Tag: tagOTLP, Scope: principal.TracesWrite, Status: 200,
			BodyLimit: httpapi.LargeBodyLimit, Metered: true,
			Summary:     "Accept and discard metrics",
			Description: "Takes an ExportMetricsServiceRequest and stores nothing, so that exporters which always send metrics need no special configuration.",
		},
		RPC: "opentelemetry.proto.collector.metrics.v1.MetricsService/Export", Message: "ExportMetricsService", ContentTypes: []string{mediaProtobuf, mediaJSON},
	}, s.postMetrics)
}

func (s *Service) postTraces(ctx context.Context, r *otlp.Request) (*otlp.Response, error) {
	return s.take(ctx, r, "rejectedSpans", span.TracesFromJSON, s.IngestTraces)
}

func (s *Service) postLogs(ctx context.Context, r *otlp.Request) (*otlp.Response, error) {
	return s.take(ctx, r, "rejectedLogRecords", span.LogsFromJSON, s.IngestLogs)
}

// take stores what a request has, whose JSON is turned into protobuf first.
// What it becomes is paid for before.
func (s *Service) take(ctx context.Context, r *otlp.Request, counted string, fromJSON func([]byte, func() error) ([]byte, error), ingest func(context.Context, principal.Caller, []byte) (Receipt, error)) (*otlp.Response, error) {
	body := r.Body
	if r.ContentType == mediaJSON {
		if err := httpapi.Admitted(ctx).Take(span.JSONRatio * len(body)); err != nil {
			return nil, err
		}
		err := work(ctx, len(body), func(pause func() error) (err error) {
			body, err = fromJSON(body, pause)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	got, err := ingest(ctx, r.Caller, body)
	if err != nil {
		return nil, err
	}
	return toExportResponse(r.ContentType, got, counted)
}

var (
	telemetry         = otel.Meter("github.com/assayhq/assay/internal/telemetry/trace")
	droppedMetrics, _ = telemetry.Int64Counter("assay.telemetry.metrics_dropped", metric.WithUnit("{request}"), metric.WithDescription("Requests with OTLP metrics, which are not kept."))
)

func (s *Service) postMetrics(ctx context.Context, r *otlp.Request) (*otlp.Response, error) {
	if err := s.spend(ctx, r.Caller, 0, len(r.Body)); err != nil {
		return nil, err
	}
	// A sender whose messages cannot be read learns it here too.
	readable := jsontext.Value(r.Body).IsValid()
	if r.ContentType == mediaProtobuf {
		readable = span.IsMessage(r.Body)
	}
	if !readable {
		return nil, span.ErrUnreadable
	}
	droppedMetrics.Add(ctx, 1)
	return toExportResponse(r.ContentType, Receipt{}, "rejectedDataPoints")
}

// partialSuccess is the answer to an export in JSON; its one member is named
// after what was sent.
type partialSuccess struct {
	PartialSuccess map[string]any `json:"partialSuccess,omitzero"`
}

// deferredWarning is what a sender reads, in the field that OTLP has for
// warnings, while what it sends cannot be read yet.
const deferredWarning = "stored safely, but not readable yet: ClickHouse does not take telemetry at the moment; do not send it again"

// toExportResponse encodes an Export…ServiceResponse. The three have one shape.
func toExportResponse(media string, got Receipt, counted string) (*otlp.Response, error) {
	out := &otlp.Response{}
	message := got.Reason
	if got.Deferred {
		out.Header = map[string]string{headerIngest: "deferred"}
		if message != "" {
			message += "; "
		}
		message += deferredWarning
	}
	if media == mediaJSON {
		var body partialSuccess
		if message != "" {
			// OTLP/JSON writes 64-bit integers as strings.
			body.PartialSuccess = map[string]any{counted: strconv.Itoa(got.Rejected), "errorMessage": message}
		}
		text, err := json.Marshal(body, json.Deterministic(true))
		out.Body = text
		return out, err
	}
	if message != "" {
		var m easyproto.Marshaler
		partial := m.MessageMarshaler().AppendMessage(1)
		partial.AppendInt64(1, int64(got.Rejected))
		partial.AppendString(2, message)
		out.Body = m.Marshal(nil)
	}
	return out, nil
}
