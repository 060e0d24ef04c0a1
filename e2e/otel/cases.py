"""The frameworks, in the order of the page."""

import dataclasses
import os

from check import Case


@dataclasses.dataclass
class Framework:
    title: str
    app: str  # the application's file
    lock: str  # where the versions of its packages are
    packages: tuple  # that the table names
    name: str = ""  # of the trace; empty if the framework chooses
    calls: int = 2  # of models
    tools: int = 1
    tool_payloads: bool = True  # whether a tool has its input and output
    agent: str = ""
    session: str = "conversation-2"
    user: str = "user-2"
    tags: tuple = ("e2e",)
    metadata: dict = dataclasses.field(default_factory=dict)  # part of the trace's
    tokens: tuple = (150, 30)
    whole: bool = True  # whether input and output are question and answer; else they contain them
    cost: float = Case.call_cost(60, 20) + Case.call_cost(90, 10, 64)
    env: dict = dataclasses.field(default_factory=dict)  # what the application is given beside the two variables
    remark: str = ""
    setup: str = ""  # the file with the lines that the page shows, if it is not the application


PYTHON, OLDER, CREW, PROXY = (f"frameworks/requirements{suffix}.txt" for suffix in ("", "-older", "-crewai", "-proxy"))
JAVASCRIPT = "frameworks/package-lock.json"
SERVER, GRPC, KEY, PROVIDER = (os.environ.get(k, "") for k in ("SERVICE_URL", "SERVICE_GRPC_URL", "SERVICE_API_KEY", "OPENAI_BASE_URL"))

TALK = {"plan": "pro"}
PLAIN = Case.call_cost(90, 10, 64)  # an answer without a tool

CASES = {
    "openai-python": Framework("OpenAI, Python", "openai_app.py", PYTHON, ("openai", "openinference-instrumentation-openai"), name="answer question",
        remark="OpenTelemetry's SDK, then:"),
    "openai-module": Framework("OpenAI, ES module", "openai_module.mjs", JAVASCRIPT, ("openai", "@arizeai/openinference-instrumentation-openai"), name="answer question"),
    "openai-agents": Framework("OpenAI Agents", "openai_agents_app.py", PYTHON, ("openai-agents", "openinference-instrumentation-openai-agents"), agent="support",
        remark="OpenTelemetry's SDK, then: the agent's name is the one that you give it, not the workflow's."),
    "langgraph": Framework("LangGraph", "langgraph_app.py", PYTHON, ("langgraph", "langchain", "openinference-instrumentation-langchain"), agent="support", metadata=TALK,
        remark='OpenTelemetry\'s SDK, then: session, user and any other metadata come from `config={"metadata": {…}}`, tags from `using_tags`.'),
    "langchain": Framework("LangChain", "langchain_app.py", PYTHON, ("langchain-core", "langchain-openai", "openinference-instrumentation-langchain"),
                           calls=1, tools=0, tokens=(90, 10), cost=PLAIN, metadata=TALK,
        remark="OpenTelemetry's SDK, then:"),
    "pydantic-ai": Framework("Pydantic AI", "pydantic_ai_app.py", PYTHON, ("pydantic-ai-slim",), agent="support", user="", tags=(), metadata=TALK,
        remark="OpenTelemetry's SDK, then: pass `conversation_id` and `metadata` to the run."),
    "vercel-ai": Framework("Vercel AI SDK", "vercel_ai.mjs", JAVASCRIPT, ("ai", "@ai-sdk/openai"), name="answer question", metadata=TALK,
        remark='Pass `telemetry` as `experimental_telemetry`. The trace has the name `functionId`.'),
    "llama-index": Framework("LlamaIndex", "llama_index_app.py", OLDER, ("llama-index-core", "openinference-instrumentation-llama-index"), env={"OPENAI_API_BASE": PROVIDER}, whole=False,
        remark="OpenTelemetry's SDK, then: the root records the state of the workflow as its input, so the question comes from the first model call. Its output is an object that contains the answer."),
    "anthropic": Framework("Anthropic, Python", "anthropic_app.py", PYTHON, ("anthropic",), name="answer question", metadata=TALK,
                           cost=(150 * 1 + 30 * 5) / 1e6, env={"ANTHROPIC_BASE_URL": PROVIDER.removesuffix("/v1"), "ANTHROPIC_API_KEY": "none", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content"},
        remark="The client describes itself once OpenTelemetry's SDK is set up. Set `ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content` to record messages. Do not add another instrumentation of the client: both would report the tokens of every call, and the trace would count them twice."),
    "google-genai": Framework("Google Gen AI, Python", "google_genai_app.py", PYTHON, ("google-genai", "openinference-instrumentation-google-genai"), name="answer question",
                              cost=(150 * 0.3 + 30 * 2.5) / 1e6, env={"GOOGLE_BASE_URL": PROVIDER.removesuffix("/v1"), "GOOGLE_API_KEY": "none"},
        remark="OpenTelemetry's SDK, then:"),
    "crewai": Framework("CrewAI", "crewai_app.py", CREW, ("crewai", "openinference-instrumentation-crewai"), agent="support", whole=False,
        remark="OpenTelemetry's SDK, then: CrewAI puts the task into a prompt of its own, and records its result as an object."),
    "traceloop": Framework("Traceloop (OpenLLMetry)", "traceloop_app.py", OLDER, ("traceloop-sdk",), name="answer question.workflow", tags=(), metadata=TALK,
                           env={"TRACELOOP_BASE_URL": SERVER, "TRACELOOP_API_KEY": KEY, "TRACELOOP_TELEMETRY": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        remark='Set `TRACELOOP_BASE_URL=http://127.0.0.1:4318` and `TRACELOOP_API_KEY=asy_live_…` instead of the two variables.'),
    "litellm": Framework("LiteLLM", "litellm_app.py", OLDER, ("litellm", "openinference-instrumentation-litellm"), name="answer question", env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"}, calls=1, tools=0, tokens=(90, 10), cost=PLAIN,
        remark="OpenTelemetry's SDK, then: this is the SDK of LiteLLM, in your application."),
    "litellm-proxy": Framework("LiteLLM proxy", "litellm_proxy_app.py", PROXY, ("litellm",), name="POST /v1/chat/completions", setup="litellm_proxy.yaml",
                               env={"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}, calls=1, tools=0, tokens=(90, 10), cost=PLAIN, session="", tags=(),
        remark="The proxy exports by itself, for every application behind it, with the cost that it computes. Start it with the two variables and `OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`, and with this in its configuration. An application that is instrumented too would report the tokens of every call a second time."),
    "mcp": Framework("MCP", "mcp_app.py", PYTHON, ("mcp", "openinference-instrumentation-openai"), name="answer question", tools=2, tool_payloads=False,
        remark="OpenTelemetry's SDK in the client's process and in the server's, then the instrumentation of the model's client. MCP's own SDK describes requests on both sides and joins them to one trace, where a call of a tool has two spans: the client's, and the server's within it. It records neither the arguments nor the results of tools."),
    "langfuse": Framework("Langfuse SDK", "langfuse_app.py", PYTHON, ("langfuse",), name="answer question", metadata=TALK,
                          env={"LANGFUSE_BASE_URL": SERVER, "LANGFUSE_PUBLIC_KEY": "pk-anything", "LANGFUSE_SECRET_KEY": KEY},
        remark="Set `LANGFUSE_BASE_URL=http://127.0.0.1:4318` and `LANGFUSE_SECRET_KEY=asy_live_…` instead of the two variables; `LANGFUSE_PUBLIC_KEY` can be anything. Assay takes spans at Langfuse's path with Basic authentication; scores, prompts and media of Langfuse are not taken."),
    "phoenix": Framework("Phoenix SDK", "phoenix_app.py", PYTHON, ("arize-phoenix-otel", "openinference-instrumentation-openai"), name="answer question",
                         env={"PHOENIX_COLLECTOR_ENDPOINT": SERVER, "PHOENIX_API_KEY": KEY, "PHOENIX_GRPC_PORT": GRPC.rpartition(":")[2]},
        remark='Set `PHOENIX_COLLECTOR_ENDPOINT=http://127.0.0.1:4318` and `PHOENIX_API_KEY=asy_live_…` instead of the two variables. Phoenix sends gRPC to port 4317 of that host; `register(protocol="http/protobuf")` sends HTTP.'),
}
