// Package span reads spans and log records as they are sent: OTLP protobuf,
// OTLP/JSON, and the JSON of our own interface.
//
// A span arrives like this:
//
//	Decoder.Traces   an ExportTraceServiceRequest, span by span   otlp.go
//	Decoder.JSON     a span that was sent as JSON                 json.go
//	LogDecoder.Logs  an ExportLogsServiceRequest                  otlp_log.go
//
// Each span becomes a Record. Its attributes are read by what conventions say
// about them: the semantic conventions of OpenTelemetry (convention_genai.go),
// OpenInference, and those of vendors (convention_vendor.go). Several may speak
// about the same fact; convention.go ranks them. What only the whole span shows
// is settled at its end (convention_finish.go).
//
// A decoder reuses its memory from span to span, and a Record is good until the
// next one: reading a span allocates nothing.
package span
