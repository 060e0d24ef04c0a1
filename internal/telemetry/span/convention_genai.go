package span

// lift reads an attribute whose meaning a convention fixes. It returns true if
// the attribute is kept elsewhere and needs no place among the attributes:
// that is so for what people wrote and models answered. Names, ids and counts
// are copied and stay attributes, so that those remain what was sent.
//
// It is called for every attribute of every span, and most of them mean
// nothing here: the first byte and a prefix decide quickly.
func (r *Record) lift(key []byte, v *value) bool {
	if len(key) < 7 {
		return false
	}
	switch key[0] {
	case 'g':
		if string(key[:7]) == "gen_ai." {
			return r.liftGenAI(key, key[7:], v)
		}
		if string(key[:6]) == "graph." {
			r.liftNode(key, v)
		}
	case 'l':
		switch {
		case string(key[:4]) == "llm.":
			return r.liftLLM(key, key[4:], v)
		case len(key) > 9 && string(key[:9]) == "langfuse.":
			return r.liftLangfuse(key, key[9:], v)
		case len(key) > 10 && string(key[:10]) == "langsmith.":
			r.liftLangSmith(key[10:], v)
		}
	case 'a':
		switch {
		case string(key[:3]) == "ai.":
			return r.liftVercel(key, key[3:], v)
		case string(key[:6]) == "assay.":
			return r.liftOurs(key, key[6:], v)
		case string(key) == "agent.name":
			r.label(factAgent, fromOpenInference, &r.Agent, v)
		case string(key) == "all_messages_events":
			return r.take(&r.meaning().input, formOlder, key, v)
		}
	case 't':
		switch {
		case len(key) > 10 && string(key[:10]) == "traceloop.":
			return r.liftTraceloop(key, key[10:], v)
		case string(key[:5]) == "tool.":
			return r.liftTool(key, v)
		case string(key) == "tag.tags":
			r.tag(v, false)
		}
	case 'p', 'f':
		return r.liftPydantic(key, v)
	case 'i', 'o':
		if valueLengths>>min(len(key), 63)&1 != 0 {
			return r.liftValue(key, v)
		}
	case 'r', 'e':
		// retrieval, reranker, embedding, enduser: not rpc, error, exception.
		if c := key[1]; c == 'e' || c == 'm' || c == 'n' {
			return r.liftRetrieval(key, v)
		}
	case 's', 'u', 'd', 'c', 'm':
		if genericLengths>>min(len(key), 63)&1 != 0 {
			return r.liftGeneric(key, v)
		}
	}
	return false
}

// The lengths of the names that liftValue and liftGeneric know, as bits.
const (
	valueLengths   uint64 = 1<<len("input.value") | 1<<len("output.value") | 1<<len("operation.cost") | 1<<len("openinference.span.kind")
	genericLengths uint64 = 1<<len("user.id") | 1<<len("session.id") | 1<<len("conversation.id") | 1<<len("mcp.method.name") |
		1<<len("deployment.environment") | 1<<len("deployment.environment.name") | 1<<len("metadata")
)

// liftGenAI reads OpenTelemetry's own convention in its present and earlier
// forms; name is the key without "gen_ai.".
func (r *Record) liftGenAI(key, name []byte, v *value) bool {
	k := r.meaning()
	switch string(name) {
	case "operation.name":
		r.step(fromGenAI, operation(v.text))
	case "provider.name":
		r.label(factProvider, fromGenAI, &r.Provider, v)
	case "system":
		r.label(factProvider, fromOlderGenAI, &r.Provider, v)
	case "request.model":
		r.label(factRequestModel, fromGenAI, &k.requestModel, v)
	case "response.model":
		r.label(factModel, fromGenAI, &r.Model, v)
	case "agent.name":
		r.label(factAgent, fromGenAI, &r.Agent, v)
	case "tool.name":
		r.label(factTool, fromGenAI, &r.Tool, v)
	case "conversation.id":
		r.label(factConversation, fromGenAI, &r.Conversation, v)
	case "user.id":
		r.label(factUser, fromGenAI, &r.User, v)
	case "response.time_to_first_chunk", "response.time_to_first_token", "server.time_to_first_token":
		r.micros(fromGenAI, v, 1e6)
	case "input.messages":
		return r.take(&k.input, formGenAI, key, v)
	case "output.messages":
		return r.take(&k.output, formGenAI, key, v)
	case "system_instructions":
		return r.take(&k.system, formGenAI, key, v)
	case "tool.definitions":
		return r.take(&k.tools, formGenAI, key, v)
	case "tool.call.arguments":
		return r.take(&k.input, formGenAI, key, v)
	case "tool.call.result":
		return r.take(&k.output, formGenAI, key, v)
	case "retrieval.query.text", "memory.query.text":
		return r.take(&k.input, formWhole, key, v)
	case "retrieval.documents", "memory.records":
		return r.take(&k.output, formGenAI, key, v)
	case "prompt", "request.messages", "tool.input", "tool.args":
		return r.take(&k.input, formOlder, key, v)
	case "completion", "tool.output":
		return r.take(&k.output, formOlder, key, v)
	case "response.text":
		return r.take(&k.replyText, formOlder, key, v)
	case "response.tool_calls":
		return r.take(&k.replyCalls, formOlder, key, v)
	case "request.available_tools":
		return r.take(&k.tools, formOlder, key, v)
	default:
		return r.liftGenAIPrefix(name, v)
	}
	return false
}

// liftGenAIPrefix reads the families of names below "gen_ai.".
func (r *Record) liftGenAIPrefix(name []byte, v *value) bool {
	if len(name) == 0 || name[0] == 'r' {
		return false // request and response are the most common, and have no family
	}
	switch {
	case hasPrefix(name, "usage."):
		r.liftUsage(name[len("usage."):], v)
	case hasPrefix(name, "prompt."):
		return r.liftMessage(listInput, name[len("prompt."):], v)
	case hasPrefix(name, "completion."):
		return r.liftMessage(listOutput, name[len("completion."):], v)
	case string(name) == "cost.total_cost": // LiteLLM's
		r.dollars(fromGenAI, v)
	case hasPrefix(name, "guardrail."):
		// A model call may name the guardrail that watched it, so this tells
		// least of all.
		r.step(fromAnybody, primitiveGuardrail)
	}
	return false
}

// liftUsage reads counts of tokens in every spelling seen so far.
func (r *Record) liftUsage(name []byte, v *value) {
	switch string(name) {
	case "input_tokens":
		r.count(factInputTokens, fromGenAI, &r.InputTokens, v)
	case "output_tokens":
		r.count(factOutputTokens, fromGenAI, &r.OutputTokens, v)
	case "prompt_tokens":
		r.count(factInputTokens, fromOlderGenAI, &r.InputTokens, v)
	case "completion_tokens":
		r.count(factOutputTokens, fromOlderGenAI, &r.OutputTokens, v)
	case "total_tokens":
		r.count(factTotalTokens, fromGenAI, &r.meaning().totalTokens, v)
	case "cache_read.input_tokens":
		r.count(factCachedTokens, fromGenAI, &r.CachedTokens, v)
	case "cache_read_input_tokens", "input_tokens.cached", "cached_tokens", "cached_input_tokens",
		"details.cache_read_tokens", "details.cached_tokens", "details.cache_read_input_tokens", "prompt_tokens_details.cached_tokens":
		r.count(factCachedTokens, fromOlderGenAI, &r.CachedTokens, v)
	case "cache_creation.input_tokens":
		r.count(factCacheWriteTokens, fromGenAI, &r.CacheWriteTokens, v)
	case "cache_creation_input_tokens", "cache_write_input_tokens", "input_tokens.cache_write",
		"details.cache_write_tokens", "details.cache_creation_input_tokens":
		r.count(factCacheWriteTokens, fromOlderGenAI, &r.CacheWriteTokens, v)
	case "reasoning.output_tokens":
		r.count(factReasoning, fromGenAI, &r.ReasoningTokens, v)
	case "reasoning_tokens", "reasoning_output_tokens", "output_tokens.reasoning", "details.reasoning_tokens",
		"completion_tokens_details.reasoning_tokens":
		r.count(factReasoning, fromOlderGenAI, &r.ReasoningTokens, v)
	case "cost", "total_cost":
		r.dollars(fromGenAI, v)
	}
}

// hasPrefix is bytes.HasPrefix for a constant.
func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}
