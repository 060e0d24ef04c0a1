"""LangChain: a chain of a prompt, a model and a parser, watched by OpenInference."""

import exporting

# setup
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument()
# end

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI
from openinference.instrumentation import using_tags

prompt = ChatPromptTemplate.from_messages([("system", "You are brief."), ("user", "{question}")])
chain = prompt | ChatOpenAI(model="gpt-4o-mini") | StrOutputParser()
with using_tags(["e2e"]):
    chain.invoke(
        {"question": "How is the weather in Lisbon?"},
        config={"metadata": {"session_id": "conversation-2", "user_id": "user-2", "plan": "pro"}, "run_name": "answer question"},
    )
exporting.provider.shutdown()
