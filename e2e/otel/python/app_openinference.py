"""The application, watched by OpenInference's instrumentation."""

import support
from openinference.instrumentation import TracerProvider, using_attributes
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor

spans = TracerProvider()
spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(spans)
OpenAIInstrumentor().instrument()

tracer = trace.get_tracer("support")


def get_weather(call):
    with tracer.start_as_current_span("get_weather", attributes={
        "openinference.span.kind": "TOOL",
        "tool.name": call.function.name,
        "input.value": call.function.arguments,
        "input.mime_type": "application/json",
    }) as span:
        span.set_attribute("output.value", '{"sky":"sunny"}')
        span.set_attribute("output.mime_type", "application/json")
    return '{"sky":"sunny"}'


with using_attributes(session_id="conversation-1", user_id="user-1", tags=["e2e"]):
    ids = support.run(tracer, get_weather, **{
        "openinference.span.kind": "AGENT", "agent.name": "support", "session.id": "conversation-1", "user.id": "user-1",
    })
spans.force_flush()
support.show(ids)
