package span

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// OTLP/JSON is turned into protobuf, so that there is one way into the columns.
// It is for browsers and hand-made requests; exporters that care send protobuf.

// TracesFromJSON makes protobuf of an ExportTraceServiceRequest.
func TracesFromJSON(body []byte) ([]byte, error) {
	req := ptraceotlp.NewExportRequest()
	if err := req.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return req.MarshalProto()
}

// LogsFromJSON makes protobuf of an ExportLogsServiceRequest.
func LogsFromJSON(body []byte) ([]byte, error) {
	req := plogotlp.NewExportRequest()
	if err := req.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return req.MarshalProto()
}
