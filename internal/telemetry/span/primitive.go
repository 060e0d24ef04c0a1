package span

// The kinds of steps that the contract lists.
const (
	primitiveModelCall  = "model_call"
	primitiveEmbedding  = "embedding"
	primitiveToolCall   = "tool_call"
	primitiveRetrieval  = "retrieval"
	primitiveRerank     = "rerank"
	primitiveMemoryRead = "memory_read"
	primitiveMemory     = "memory_write"
	primitiveAgent      = "agent_invocation"
	primitiveHandoff    = "handoff"
	primitiveWorkflow   = "workflow"
	primitivePlan       = "plan"
	primitiveGuardrail  = "guardrail"
	primitiveEvaluation = "evaluation"
	primitiveOther      = "other"
)

// operation maps gen_ai.operation.name, with names that older libraries used.
// An operation that nobody has named yet tells nothing.
func operation(name []byte) string {
	switch string(name) {
	case "chat", "text_completion", "generate_content",
		"completion", "text_generation", "response", "responses", "image_generation", "generate":
		return primitiveModelCall
	case "embeddings", "embedding":
		return primitiveEmbedding
	case "retrieval", "retrieve":
		return primitiveRetrieval
	case "rerank":
		return primitiveRerank
	case "execute_tool", "tool_call", "tool":
		return primitiveToolCall
	case "invoke_agent", "create_agent", "agent":
		return primitiveAgent
	case "invoke_workflow", "workflow", "chain":
		return primitiveWorkflow
	case "plan":
		return primitivePlan
	case "search_memory":
		return primitiveMemoryRead
	case "create_memory", "update_memory", "upsert_memory", "delete_memory", "create_memory_store", "delete_memory_store":
		return primitiveMemory
	case "run_guardrail", "apply_guardrail", "guardrail":
		return primitiveGuardrail
	case "handoff":
		return primitiveHandoff
	case "evaluate", "evaluation":
		return primitiveEvaluation
	default:
		return ""
	}
}

// stepKind maps the kinds of OpenInference, Langfuse, LangSmith and traceloop,
// which differ in case and little else.
func stepKind(name []byte) string {
	var low [16]byte
	if len(name) > len(low) {
		return ""
	}
	switch string(lowered(&low, name)) {
	case "llm", "generation":
		return primitiveModelCall
	case "embedding":
		return primitiveEmbedding
	case "retriever":
		return primitiveRetrieval
	case "reranker":
		return primitiveRerank
	case "tool":
		return primitiveToolCall
	case "agent":
		return primitiveAgent
	case "chain", "workflow":
		return primitiveWorkflow
	case "guardrail":
		return primitiveGuardrail
	case "evaluator":
		return primitiveEvaluation
	case "prompt", "parser":
		return primitiveOther
	default:
		return ""
	}
}

// lowered is a short name in lower case.
func lowered(low *[16]byte, name []byte) []byte {
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return low[:len(name)]
}

// requestType maps traceloop's llm.request.type.
func requestType(name []byte) string {
	switch string(name) {
	case "chat", "completion":
		return primitiveModelCall
	case "embedding":
		return primitiveEmbedding
	case "rerank":
		return primitiveRerank
	default:
		return ""
	}
}

// vercelOperation maps ai.operationId. The outer operations hold the calls
// that they make, as a chain does.
func vercelOperation(name []byte) string {
	switch string(name) {
	case "ai.generateText.doGenerate", "ai.streamText.doStream", "ai.generateObject.doGenerate", "ai.streamObject.doStream":
		return primitiveModelCall
	case "ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject", "ai.embed", "ai.embedMany", "ai.rerank":
		return primitiveWorkflow
	case "ai.embed.doEmbed", "ai.embedMany.doEmbed":
		return primitiveEmbedding
	case "ai.rerank.doRerank":
		return primitiveRerank
	case "ai.toolCall":
		return primitiveToolCall
	default:
		return ""
	}
}

// primitiveType is a name from the contract's list, or nothing.
func primitiveType(name []byte) string {
	for _, p := range PrimitiveTypes {
		if string(name) == p {
			return p
		}
	}
	return ""
}

// PrimitiveTypes are the kinds of steps that the contract lists.
var PrimitiveTypes = [...]string{
	primitiveModelCall, primitiveEmbedding, primitiveToolCall, primitiveRetrieval, primitiveRerank,
	primitiveMemoryRead, primitiveMemory, primitiveAgent, primitiveHandoff, primitiveWorkflow, primitivePlan,
	primitiveGuardrail, "policy_check", "human_approval", "user_input", primitiveEvaluation,
	"code_execution", "response", primitiveOther,
}
