"""The application, watched by OpenTelemetry's own instrumentation, in the
version that is installed.

Exporters have their default settings. OTEL_EXPORTER_OTLP_PROTOCOL chooses
between the two packages, as it does for programs that configure nothing.
"""

import os

import support
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

try:
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
except ImportError:  # what it was called before
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc":
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
else:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

spans = TracerProvider()
spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(spans)
logs = LoggerProvider()
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
_logs.set_logger_provider(logs)
figures = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())])
metrics.set_meter_provider(figures)
OpenAIInstrumentor().instrument()

tracer = trace.get_tracer("support")


def get_weather(call):
    with tracer.start_as_current_span(f"execute_tool {call.function.name}", attributes={
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.function.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": call.function.arguments,
    }) as span:
        span.set_attribute("gen_ai.tool.call.result", '{"sky":"sunny"}')
    return '{"sky":"sunny"}'


ids = support.run(tracer, get_weather, **{
    "gen_ai.conversation.id": "conversation-1", "user.id": "user-1", "gen_ai.agent.name": "support",
})
for provider in (spans, logs, figures):
    provider.force_flush()
support.show(ids)
