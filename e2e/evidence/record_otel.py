"""Records spans of OpenTelemetry's and OpenInference's own instrumentations, as
OTLP/JSON.

    record_otel.py genai          spans in the present names, with messages
    record_otel.py older          spans of the generation before
    record_otel.py openinference  the same program, watched by OpenInference

A program asks a provider of models that is simulated in this process. What no
instrumentation makes yet (memory, guardrails, evaluations, agents that call each
other) is made with OpenTelemetry's SDK after the conventions. Needs openai,
opentelemetry-sdk, opentelemetry-exporter-otlp-proto-http, and the instrumentation:
opentelemetry-instrumentation-genai-openai, opentelemetry-instrumentation-openai-v2 or
openinference-instrumentation-openai.
"""

import base64
import os
import sys
import threading
from http.server import ThreadingHTTPServer

if sys.argv[1] == "genai":
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY" if sys.argv[1] == "genai" else "true"
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "otel"))

import openai
import provider
import recording
from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

PACKAGES = {
    "genai": "opentelemetry-instrumentation-genai-openai",
    "older": "opentelemetry-instrumentation-openai-v2",
    "openinference": "openinference-instrumentation-openai",
}
FORMS = {"genai": "otel.span", "older": "otel.span", "openinference": "openinference.span"}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]

exporter, log_exporter = InMemorySpanExporter(), InMemoryLogRecordExporter()
spans, logs = TracerProvider(), LoggerProvider()
spans.add_span_processor(SimpleSpanProcessor(exporter))
logs.add_log_record_processor(SimpleLogRecordProcessor(log_exporter))
tracer = spans.get_tracer("recorder")


def hexadecimal(value):
    """OTLP/JSON writes ids in hexadecimal, where protobuf's own JSON has base64."""
    if isinstance(value, list):
        return [hexadecimal(v) for v in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {k: base64.b64decode(v).hex() if k in ids else hexadecimal(v) for k, v in value.items()}


def request(message):
    return hexadecimal(MessageToDict(message, use_integers_for_enums=True))


def take(form, name, made_by):
    """Writes the spans that ended since the last time, as one request."""
    recording.write(form, name, made_by, request(encode_spans(exporter.get_finished_spans())), type=form)
    exporter.clear()


def ask(name):
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_address[1]}/v1", api_key="any", max_retries=0)
    messages = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "How is the weather in Lisbon?"}]
    form, made_by = FORMS[name], recording.version(PACKAGES[name])
    client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS, temperature=0.5)
    take(form, name + "_chat_tool", made_by)
    client.chat.completions.create(model="gpt-4o-mini", messages=messages)
    take(form, name + "_chat", made_by)
    client.embeddings.create(model="text-embedding-3-small", input="How is the weather in Lisbon?")
    take(form, name + "_embeddings", made_by)
    try:
        client.chat.completions.create(model="no-such-model", messages=messages)
    except openai.NotFoundError:
        take(form, name + "_chat_error", made_by)


def span(operation, name="", **attributes):
    attributes = {"gen_ai." + k.replace("__", "."): v for k, v in attributes.items()}
    return tracer.start_as_current_span(f"{operation} {name}".strip(), attributes={"gen_ai.operation.name": operation, **attributes})


def agents():
    """Two agents, a workflow, a plan, a tool, a retrieval and a guardrail."""
    with span("invoke_workflow", "refunds"):
        with span("invoke_agent", "support", agent__name="support", agent__id="a-1", conversation__id="c-1"):
            with span("plan", agent__name="support"):
                pass
            with span("invoke_agent", "refunds", agent__name="refunds", agent__version="3"):
                with span("execute_tool", "refund", tool__name="refund", tool__call__id="call_1", tool__type="function", tool__call__arguments='{"order":"o-1"}') as tool:
                    tool.set_attribute("gen_ai.tool.call.result", '{"refunded":true}')
                with span("retrieval", "orders", data_source__id="orders", retrieval__query__text="o-1") as found:
                    found.set_attribute("gen_ai.retrieval.documents", '[{"id":"d-1","score":0.5}]')
                with span("run_guardrail", "refund limit", guardrail__name="limit", guardrail__target__type="llm_output", guardrail__verdict__type="modify"):
                    pass


def memories():
    for operation in ("search_memory", "create_memory", "update_memory", "upsert_memory", "delete_memory"):
        with span(operation, "customers", memory__store__id="customers", memory__record__id="m-1", provider__name="mem0"):
            pass


def evaluations(made_by):
    attributes = {
        "gen_ai.evaluation.name": "relevance",
        "gen_ai.evaluation.score.value": 0.25,
        "gen_ai.evaluation.score.label": "irrelevant",
        "gen_ai.evaluation.explanation": "The answer is about Porto.",
    }
    with span("chat", "gpt-4o-mini", request__model="gpt-4o-mini") as evaluated:
        evaluated.add_event("gen_ai.evaluation.result", attributes)
        logs.get_logger("recorder").emit(LogRecord(event_name="gen_ai.evaluation.result", attributes=attributes, timestamp=evaluated.start_time))
    take("otel.span", "sdk_evaluation", made_by)
    recording.write("otel.log", "sdk_evaluation", made_by, request(encode_logs(log_exporter.get_finished_logs())), type="otel.log")


def watch(name):
    if name == "genai":
        from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
    elif name == "older":
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    else:
        from openinference.instrumentation.openai import OpenAIInstrumentor
    OpenAIInstrumentor().instrument(tracer_provider=spans, logger_provider=logs)


server = ThreadingHTTPServer(("127.0.0.1", 0), provider.Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
watch(sys.argv[1])
ask(sys.argv[1])
if sys.argv[1] == "genai":
    by = recording.version("opentelemetry-sdk")
    agents()
    take("otel.span", "sdk_agents", by)
    memories()
    take("otel.span", "sdk_memory", by)
    evaluations(by)
server.shutdown()
