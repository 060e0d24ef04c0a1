package span

import "bytes"

// liftLLM reads the names below "llm.", which OpenInference and traceloop
// share; name is the key without the prefix.
func (r *Record) liftLLM(key, name []byte, v *value) bool {
	k := r.meaning()
	switch string(name) {
	case "model_name":
		r.label(factModel, fromOpenInference, &r.Model, v)
	case "response.model_name":
		r.label(factModel, fromOlderGenAI, &r.Model, v)
	case "response.model":
		r.label(factModel, fromTraceloop, &r.Model, v)
	case "request.model_name":
		r.label(factRequestModel, fromOpenInference, &k.requestModel, v)
	case "request.model":
		r.label(factRequestModel, fromTraceloop, &k.requestModel, v)
	case "provider":
		// Who serves the model; llm.system is who made it.
		r.label(factProvider, fromOpenInference, &r.Provider, v)
	case "system", "vendor":
		r.label(factProvider, fromTraceloop, &r.Provider, v)
	case "user":
		r.label(factUser, fromTraceloop, &r.User, v)
	case "request.type":
		r.step(fromTraceloop, requestType(v.text))
	case "input_messages", "prompts":
		return r.take(&k.input, formFlat, key, v)
	case "output_messages", "choices", "completions":
		return r.take(&k.output, formFlat, key, v)
	case "tools", "request.functions":
		return r.take(&k.tools, formFlat, key, v)
	default:
		return r.liftLLMPrefix(name, v)
	}
	return false
}

func (r *Record) liftLLMPrefix(name []byte, v *value) bool {
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

func (r *Record) liftTokenCount(name []byte, v *value) {
	switch string(name) {
	case "prompt":
		r.count(factInputTokens, fromOpenInference, &r.InputTokens, v)
	case "completion":
		r.count(factOutputTokens, fromOpenInference, &r.OutputTokens, v)
	case "total":
		r.count(factTotalTokens, fromOpenInference, &r.meaning().totalTokens, v)
	case "prompt_details.cache_read":
		r.count(factCachedTokens, fromOpenInference, &r.CachedTokens, v)
	case "prompt_details.cache_write":
		r.count(factCacheWriteTokens, fromOpenInference, &r.CacheWriteTokens, v)
	case "completion_details.reasoning":
		r.count(factReasoning, fromOpenInference, &r.ReasoningTokens, v)
	}
}

// liftCost reads costs; halves are added up at the end if no total comes.
func (r *Record) liftCost(name []byte, v *value) {
	k := r.meaning()
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
func (r *Record) liftLLMUsage(name []byte, v *value) {
	switch string(name) {
	case "prompt_tokens":
		r.count(factInputTokens, fromTraceloop, &r.InputTokens, v)
	case "completion_tokens":
		r.count(factOutputTokens, fromTraceloop, &r.OutputTokens, v)
	case "total_tokens":
		r.count(factTotalTokens, fromTraceloop, &r.meaning().totalTokens, v)
	case "cache_read_input_tokens":
		r.count(factCachedTokens, fromTraceloop, &r.CachedTokens, v)
	case "cache_creation_input_tokens":
		r.count(factCacheWriteTokens, fromTraceloop, &r.CacheWriteTokens, v)
	case "reasoning_tokens":
		r.count(factReasoning, fromTraceloop, &r.ReasoningTokens, v)
	}
}

// liftValue reads the names that begin with "i" and "o".
func (r *Record) liftValue(key []byte, v *value) bool {
	switch string(key) {
	case "input.value":
		if v.kind == valueText && bytes.HasPrefix(v.text, llamaIndexState) {
			return false // it stays an attribute
		}
		return r.take(&r.meaning().input, formWhole, key, v)
	case "output.value":
		return r.take(&r.meaning().output, formWhole, key, v)
	case "openinference.span.kind":
		r.step(fromOpenInference, stepKind(v.text))
	case "operation.cost":
		r.dollars(fromTraceloop, v)
	}
	return false
}

// llamaIndexState begins what LlamaIndex records as the input of a workflow: its
// state before the run, which has everything but the question.
var llamaIndexState = []byte(`{"init_state":`)

// liftTool reads what a tool's own span says of it.
func (r *Record) liftTool(key []byte, v *value) bool {
	switch string(key) {
	case "tool.name":
		r.label(factTool, fromOpenInference, &r.Tool, v)
	case "tool.parameters":
		return r.take(&r.meaning().parameters, formElsewhere, key, v)
	}
	return false
}

// liftNode keeps the place in an agent's graph: of an agent without a name it
// is the best there is.
func (r *Record) liftNode(key []byte, v *value) {
	switch string(key) {
	case "graph.node.id":
		if k := r.meaning(); v.kind == valueText && k.node == nil && len(v.text) <= maxLabel {
			k.node = v.text
		}
	case "graph.node.name":
		if k := r.meaning(); v.kind == valueText && len(v.text) <= maxLabel {
			k.node = v.text
		}
	}
}

// liftRetrieval reads the names that begin with "r" and "e": documents that
// were found and texts that were embedded.
func (r *Record) liftRetrieval(key []byte, v *value) bool {
	const documents, before, after, embeddings = "retrieval.documents.", "reranker.input_documents.", "reranker.output_documents.", "embedding.embeddings."
	switch string(key) {
	case "embedding.model_name":
		r.label(factModel, fromOpenInference, &r.Model, v)
		r.step(fromAnybody, primitiveEmbedding)
	case "reranker.model_name":
		r.label(factModel, fromOpenInference, &r.Model, v)
		r.step(fromAnybody, primitiveRerank)
	case "reranker.query":
		return r.take(&r.meaning().query, formFlat, key, v)
	case "embedding.text":
		return r.take(&r.meaning().input, formWhole, key, v)
	case "embedding.embeddings":
		return r.take(&r.meaning().input, formFlat, key, v)
	case "retrieval.documents", "reranker.output_documents":
		return r.take(&r.meaning().output, formFlat, key, v)
	case "enduser.id":
		r.label(factUser, fromAnybody, &r.User, v)
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
