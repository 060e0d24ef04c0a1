package trace

// liftLLM reads the names below "llm.", which OpenInference and traceloop
// share; name is the key without the prefix.
func (r *row) liftLLM(key, name []byte, v *value) bool {
	k := r.know()
	switch string(name) {
	case "model_name":
		r.label(factModel, fromOpenInference, &r.model, v)
	case "response.model_name":
		r.label(factModel, fromOlderGenAI, &r.model, v)
	case "response.model":
		r.label(factModel, fromTraceloop, &r.model, v)
	case "request.model_name":
		r.label(factRequestModel, fromOpenInference, &k.requestModel, v)
	case "request.model":
		r.label(factRequestModel, fromTraceloop, &k.requestModel, v)
	case "provider":
		// Who serves the model; llm.system is who made it.
		r.label(factProvider, fromOpenInference, &r.provider, v)
	case "system", "vendor":
		r.label(factProvider, fromTraceloop, &r.provider, v)
	case "user":
		r.label(factUser, fromTraceloop, &r.user, v)
	case "request.type":
		r.step(fromTraceloop, requestType(v.text))
	case "input_messages", "prompts":
		return r.take(&k.input, saidFlat, key, v)
	case "output_messages", "choices", "completions":
		return r.take(&k.output, saidFlat, key, v)
	case "tools", "request.functions":
		return r.take(&k.tools, saidFlat, key, v)
	default:
		return r.liftLLMPrefix(name, v)
	}
	return false
}

func (r *row) liftLLMPrefix(name []byte, v *value) bool {
	switch {
	case hasPrefix(name, "token_count."):
		r.liftTokenCount(name[len("token_count."):], v)
	case hasPrefix(name, "cost."):
		r.liftCost(name[len("cost."):], v)
	case hasPrefix(name, "usage."):
		r.liftLLMUsage(name[len("usage."):], v)
	case hasPrefix(name, "input_messages."):
		return r.liftMessage(listInput, name[len("input_messages."):], v)
	case hasPrefix(name, "output_messages."):
		return r.liftMessage(listOutput, name[len("output_messages."):], v)
	case hasPrefix(name, "prompts."):
		return r.liftMessage(listInput, name[len("prompts."):], v)
	case hasPrefix(name, "choices."):
		return r.liftMessage(listOutput, name[len("choices."):], v)
	case hasPrefix(name, "completions."):
		return r.liftMessage(listOutput, name[len("completions."):], v)
	case hasPrefix(name, "tools."):
		return r.liftItem(listTools, name[len("tools."):], "tool.", v)
	case hasPrefix(name, "request.functions."):
		return r.liftItem(listTools, name[len("request.functions."):], "", v)
	}
	return false
}

func (r *row) liftTokenCount(name []byte, v *value) {
	switch string(name) {
	case "prompt":
		r.count(factInputTokens, fromOpenInference, &r.inputTokens, v)
	case "completion":
		r.count(factOutputTokens, fromOpenInference, &r.outputTokens, v)
	case "total":
		r.count(factTotalTokens, fromOpenInference, &r.know().totalTokens, v)
	case "prompt_details.cache_read":
		r.count(factCachedTokens, fromOpenInference, &r.cachedTokens, v)
	case "prompt_details.cache_write":
		r.count(factCacheWriteTokens, fromOpenInference, &r.cacheWriteTokens, v)
	case "completion_details.reasoning":
		r.count(factReasoning, fromOpenInference, &r.reasoning, v)
	}
}

// liftCost reads costs; halves are added up at the end if no total comes.
func (r *row) liftCost(name []byte, v *value) {
	k := r.know()
	switch string(name) {
	case "total":
		r.dollars(fromOpenInference, v)
	case "prompt":
		k.promptCost, _ = v.float()
	case "completion":
		k.answerCost, _ = v.float()
	}
}

// liftLLMUsage reads the counts of traceloop's early versions.
func (r *row) liftLLMUsage(name []byte, v *value) {
	switch string(name) {
	case "prompt_tokens":
		r.count(factInputTokens, fromTraceloop, &r.inputTokens, v)
	case "completion_tokens":
		r.count(factOutputTokens, fromTraceloop, &r.outputTokens, v)
	case "total_tokens":
		r.count(factTotalTokens, fromTraceloop, &r.know().totalTokens, v)
	case "cache_read_input_tokens":
		r.count(factCachedTokens, fromTraceloop, &r.cachedTokens, v)
	case "cache_creation_input_tokens":
		r.count(factCacheWriteTokens, fromTraceloop, &r.cacheWriteTokens, v)
	case "reasoning_tokens":
		r.count(factReasoning, fromTraceloop, &r.reasoning, v)
	}
}

// liftValue reads the names that begin with "i" and "o".
func (r *row) liftValue(key []byte, v *value) bool {
	switch string(key) {
	case "input.value":
		return r.take(&r.know().input, saidWhole, key, v)
	case "output.value":
		return r.take(&r.know().output, saidWhole, key, v)
	case "openinference.span.kind":
		r.step(fromOpenInference, stepKind(v.text))
	case "operation.cost":
		r.dollars(fromTraceloop, v)
	}
	return false
}

// liftTool reads what a tool's own span says of it.
func (r *row) liftTool(key []byte, v *value) bool {
	switch string(key) {
	case "tool.name":
		r.label(factTool, fromOpenInference, &r.tool, v)
	case "tool.parameters":
		return r.take(&r.know().parameters, saidElsewhere, key, v)
	}
	return false
}

// liftNode keeps the place in an agent's graph: of an agent without a name it
// is the best there is.
func (r *row) liftNode(key []byte, v *value) {
	switch string(key) {
	case "graph.node.id":
		if k := r.know(); v.kind == valueText && k.node == nil && len(v.text) <= maxLabel {
			k.node = v.text
		}
	case "graph.node.name":
		if k := r.know(); v.kind == valueText && len(v.text) <= maxLabel {
			k.node = v.text
		}
	}
}

// liftRetrieval reads the names that begin with "r" and "e": documents that
// were found and texts that were embedded.
func (r *row) liftRetrieval(key []byte, v *value) bool {
	const documents, before, after, embeddings = "retrieval.documents.", "reranker.input_documents.", "reranker.output_documents.", "embedding.embeddings."
	switch string(key) {
	case "embedding.model_name":
		r.label(factModel, fromOpenInference, &r.model, v)
		r.step(anybody, primitiveEmbedding)
	case "reranker.model_name":
		r.label(factModel, fromOpenInference, &r.model, v)
		r.step(anybody, primitiveRerank)
	case "reranker.query":
		return r.take(&r.know().query, saidFlat, key, v)
	case "embedding.text":
		return r.take(&r.know().input, saidWhole, key, v)
	case "embedding.embeddings":
		return r.take(&r.know().input, saidFlat, key, v)
	case "retrieval.documents", "reranker.output_documents":
		return r.take(&r.know().output, saidFlat, key, v)
	case "enduser.id":
		r.label(factUser, anybody, &r.user, v)
	default:
		switch {
		case hasPrefix(key, documents):
			return r.liftItem(listDocuments, key[len(documents):], "document.", v)
		case hasPrefix(key, before):
			return r.liftItem(listRerankInput, key[len(before):], "document.", v)
		case hasPrefix(key, after):
			return r.liftItem(listRerankOutput, key[len(after):], "document.", v)
		case hasPrefix(key, embeddings):
			return r.liftItem(listEmbeddings, key[len(embeddings):], "embedding.", v)
		}
	}
	return false
}
