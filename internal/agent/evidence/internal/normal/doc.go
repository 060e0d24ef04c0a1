// Package normal turns events of agents into reports of evidence.
//
// An event arrives in one of several formats: spans and logs of OpenTelemetry, spans
// of OpenInference, messages of MCP and A2A, decisions of OPA, or a record as it is
// posted. Normalize reads one event and says which records it speaks of. It knows
// nothing but the event: whatever takes two events, such as the request and the
// result of a call, becomes two reports with the same key, which are merged where
// they are stored.
//
//	infer.go    which format an event has
//	span.go     what holds spans; step.go makes steps of them
//	log.go      log records; evaluation.go makes explanations of them
//	mcp.go      messages of MCP; mcp_result.go reads answers, mcp_question.go questions
//	            to the user; manifest.go makes connectors of tool lists, and hint.go reads
//	            what they say about tools
//	a2a.go      tasks of A2A; card.go makes connectors of agent cards
//	opa.go      decision logs
//	native.go   records as they are posted
//
// Every report can be stored: what does not fit is cut or left out, with a warning.
// The same event always gives the same reports. Each mapping has a version, which
// changes when its reports do.
package normal
