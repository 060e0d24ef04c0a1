package span

// liftTraceloop reads OpenLLMetry's workflow names; name is the key without
// "traceloop.".
func (r *Record) liftTraceloop(key, name []byte, v *value) bool {
	const properties = "association.properties."
	k := r.meaning()
	switch string(name) {
	case "span.kind":
		r.step(fromTraceloop, stepKind(v.text))
	case "entity.name":
		if v.kind == valueText && len(v.text) <= maxLabel {
			k.entity = v.text
		}
	case "entity.input":
		return r.take(&k.input, formWhole, key, v)
	case "entity.output":
		return r.take(&k.output, formWhole, key, v)
	default:
		if hasPrefix(name, properties) {
			r.liftMetadata(fromTraceloop, name[len(properties):], v)
			r.describe(name[len(properties):], v)
		}
	}
	return false
}

// liftPydantic reads what agents of Pydantic AI say: all messages of a run, and
// its result.
func (r *Record) liftPydantic(key []byte, v *value) bool {
	switch string(key) {
	case "pydantic_ai.all_messages":
		return r.take(&r.meaning().input, formOlder, key, v)
	case "final_result":
		return r.take(&r.meaning().result, formElsewhere, key, v)
	}
	return false
}

// liftMetadata reads what programs put into free-form metadata to name a user
// and a conversation.
func (r *Record) liftMetadata(from source, name []byte, v *value) {
	switch string(name) {
	case "user_id", "userId", "user.id", "ls_user_id":
		r.label(factUser, from, &r.User, v)
	case "session_id", "sessionId", "session.id", "conversation_id", "conversationId", "thread_id", "threadId", "chat_id", "chatId":
		r.label(factConversation, from, &r.Conversation, v)
	case "environment":
		r.label(factEnvironment, from, &r.meaning().environment, v)
	case "lc_agent_name":
		r.label(factAgent, from, &r.Agent, v)
	case "tags":
		r.tag(v, false)
	}
}

// liftLangfuse reads what Langfuse's libraries send; name is the key without
// "langfuse.".
func (r *Record) liftLangfuse(key, name []byte, v *value) bool {
	k := r.meaning()
	switch string(name) {
	case "user.id":
		r.label(factUser, fromLangfuse, &r.User, v)
	case "session.id":
		r.label(factConversation, fromLangfuse, &r.Conversation, v)
	case "environment":
		r.label(factEnvironment, fromLangfuse, &k.environment, v)
	case "release":
		r.label(factRelease, fromLangfuse, &k.release, v)
	case "trace.tags", "tags":
		r.tag(v, false)
	case "trace.input":
		return r.take(&k.traceInput, formElsewhere, key, v)
	case "trace.output":
		return r.take(&k.traceOutput, formElsewhere, key, v)
	case "observation.type":
		r.step(fromLangfuse, stepKind(v.text))
	case "observation.input":
		return r.take(&k.input, formLangfuse, key, v)
	case "observation.output":
		return r.take(&k.output, formLangfuse, key, v)
	case "observation.model.name", "observation.model":
		// It is what the program asked for unless a response says more.
		r.label(factRequestModel, fromLangfuse, &k.requestModel, v)
	case "observation.usage_details":
		if v.kind == valueText {
			r.usageDetails(v.text)
		}
	case "observation.cost_details":
		if v.kind == valueText {
			r.costDetails(v.text)
		}
	case "observation.completion_start_time":
		if at, ok := instant(v); ok {
			k.firstTokenAt = at
		}
	default:
		if hasPrefix(name, "trace.metadata.") {
			r.describe(name[len("trace.metadata."):], v)
		}
	}
	return false
}

// liftLangSmith reads LangSmith's few; name is the key without "langsmith.".
// langsmith.trace.session_id is the id of a project and not of a conversation.
func (r *Record) liftLangSmith(name []byte, v *value) {
	const metadata = "metadata."
	switch string(name) {
	case "span.kind":
		r.step(fromLangSmith, stepKind(v.text))
	case "span.tags":
		r.tag(v, true)
	case "metadata.ls_provider":
		r.label(factProvider, fromLangSmith, &r.Provider, v)
	case "metadata.ls_model_name":
		r.label(factRequestModel, fromLangSmith, &r.meaning().requestModel, v)
	default:
		if hasPrefix(name, metadata) {
			r.liftMetadata(fromLangSmith, name[len(metadata):], v)
			r.describe(name[len(metadata):], v)
		}
	}
}

// liftVercel reads the AI SDK's names; name is the key without "ai.".
func (r *Record) liftVercel(key, name []byte, v *value) bool {
	const metadata = "telemetry.metadata."
	k := r.meaning()
	switch string(name) {
	case "operationId":
		r.step(fromVercel, vercelOperation(v.text))
	case "telemetry.functionId":
		if v.kind == valueText && len(v.text) > 0 && len(v.text) <= maxLabel {
			k.function = v.text
		}
	case "model.id":
		r.label(factRequestModel, fromVercel, &k.requestModel, v)
	case "response.model":
		r.label(factModel, fromVercel, &r.Model, v)
	case "model.provider":
		r.label(factProvider, fromVercel, &r.Provider, v)
	case "toolCall.name":
		r.label(factTool, fromVercel, &r.Tool, v)
	case "toolCall.args", "toolCall.input":
		return r.take(&k.input, formVercel, key, v)
	case "toolCall.result", "toolCall.output":
		return r.take(&k.output, formVercel, key, v)
	case "prompt.messages":
		return r.take(&k.input, formVercel, key, v)
	case "prompt":
		return r.take(&k.input, formWhole, key, v)
	case "value", "values":
		return r.takeList(&k.input, formWhole, key, v)
	case "prompt.tools":
		return r.takeList(&k.tools, formVercel, key, v)
	case "response.text", "result.text":
		return r.take(&k.replyText, formVercel, key, v)
	case "response.object", "result.object":
		return r.take(&k.replyObject, formVercel, key, v)
	case "response.toolCalls", "result.toolCalls":
		return r.take(&k.replyCalls, formVercel, key, v)
	case "embedding", "embeddings":
		return r.takeList(&k.output, formWhole, key, v)
	case "usage.promptTokens", "usage.inputTokens", "usage.tokens":
		r.count(factInputTokens, fromVercel, &r.InputTokens, v)
	case "usage.completionTokens", "usage.outputTokens":
		r.count(factOutputTokens, fromVercel, &r.OutputTokens, v)
	case "usage.totalTokens":
		r.count(factTotalTokens, fromVercel, &k.totalTokens, v)
	case "usage.cachedInputTokens", "usage.inputTokenDetails.cacheReadTokens":
		r.count(factCachedTokens, fromVercel, &r.CachedTokens, v)
	case "usage.cacheCreationInputTokens", "usage.inputTokenDetails.cacheWriteTokens":
		r.count(factCacheWriteTokens, fromVercel, &r.CacheWriteTokens, v)
	case "usage.reasoningTokens", "usage.outputTokenDetails.reasoningTokens":
		r.count(factReasoning, fromVercel, &r.ReasoningTokens, v)
	case "response.msToFirstChunk", "stream.msToFirstChunk":
		r.micros(fromVercel, v, 1e3)
	default:
		if hasPrefix(name, metadata) {
			r.liftMetadata(fromVercel, name[len(metadata):], v)
			r.describe(name[len(metadata):], v)
		}
	}
	return false
}

// liftOurs reads the names that are addressed to us; name is the key without
// "assay.".
func (r *Record) liftOurs(key, name []byte, v *value) bool {
	k := r.meaning()
	switch string(name) {
	case "user_id":
		r.label(factUser, fromAssay, &r.User, v)
	case "conversation_id":
		r.label(factConversation, fromAssay, &r.Conversation, v)
	case "release_id":
		r.label(factRelease, fromAssay, &k.release, v)
	case "environment":
		r.label(factEnvironment, fromAssay, &k.environment, v)
	case "agent_name":
		r.label(factAgent, fromAssay, &r.Agent, v)
	case "tags":
		r.tag(v, false)
	case "cost_usd":
		r.dollars(fromAssay, v)
	case "primitive_type":
		r.step(fromAssay, primitiveType(v.text))
	case "input":
		return r.take(&k.input, formAssay, key, v)
	case "output":
		return r.take(&k.output, formAssay, key, v)
	}
	return false
}

// liftGeneric reads names that belong to no convention for models.
func (r *Record) liftGeneric(key []byte, v *value) bool {
	switch string(key) {
	case "session.id":
		r.label(factConversation, fromOpenInference, &r.Conversation, v)
	case "conversation.id", "conversation_id", "session_id":
		r.label(factConversation, fromAnybody, &r.Conversation, v)
	case "user.id":
		r.label(factUser, fromOpenInference, &r.User, v)
	case "user_id":
		r.label(factUser, fromAnybody, &r.User, v)
	case "deployment.environment.name":
		r.label(factEnvironment, fromVercel, &r.meaning().environment, v)
	case "deployment.environment":
		r.label(factEnvironment, fromAnybody, &r.meaning().environment, v)
	case "mcp.method.name":
		if string(v.text) == "tools/call" {
			r.step(fromAnybody, primitiveToolCall)
		}
	case "metadata":
		return r.liftObject(key, v)
	}
	return false
}
