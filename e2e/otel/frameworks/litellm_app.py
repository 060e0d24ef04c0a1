"""LiteLLM's SDK, watched by OpenInference."""

import exporting

# setup
from openinference.instrumentation.litellm import LiteLLMInstrumentor

LiteLLMInstrumentor().instrument()
# end

import litellm
from openinference.instrumentation import using_attributes

messages = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "How is the weather in Lisbon?"}]
with using_attributes(session_id="conversation-2", user_id="user-2", tags=["e2e"], metadata={"plan": "pro"}):
    with exporting.provider.get_tracer("support").start_as_current_span("answer question"):
        litellm.completion(model="gpt-4o-mini", messages=messages)
exporting.provider.shutdown()
