// Package llm asks models.
//
// One small interface stands in front of every provider: a Request goes to an
// Endpoint, and a Reply or an *Error comes back. Four protocols are spoken:
// Anthropic's messages, also as Amazon's Bedrock has them, Google's generateContent,
// OpenAI's responses, and OpenAI's chat completions, which nearly every other
// provider and every local server speaks too.
//
// A call is made once. Whether and when to make it again is the caller's
// decision, for only the caller knows its budget: the Error says what kind of
// failure it was, whether another try may help and how long to wait before it.
package llm

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/platform/secret"
)

// Endpoint is where a model is asked, and with which credential.
type Endpoint struct {
	Provider string // as a provider key names it: openai, anthropic, mistral, …
	BaseURL  string // with its version: https://api.openai.com/v1; a query is kept
	Secret   secret.Text
}

// Request is what a model is asked. Every provider is sent the same words; what
// a provider has no word for is left out, as the field says.
type Request struct {
	Model    string
	System   string // empty sends none
	Messages []Message
	Tools    []Tool
	Params   Params

	// IdempotencyKey lets a provider that knows the header charge a repeated
	// call once. Empty sends none.
	IdempotencyKey string
}

// Role is who said a message.
type Role string

// The roles of messages. What the system says is Request.System.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // the result of a tool call
)

// Message is one turn of a conversation.
type Message struct {
	Role       Role
	Content    string
	ToolCalls  []ToolCall // of an assistant's turn
	ToolCallID string     // of a tool's turn: the call that it answers
}

// Tool is something that a model may ask for.
type Tool struct {
	Name        string
	Description string
	Schema      jsontext.Value // JSON Schema of its arguments; empty takes none
}

// ToolCall is a model asking for a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments jsontext.Value // a JSON value, always; an object unless the model erred
}

// Params shape an answer. What is not set is the provider's choice, except
// MaxTokens, which Anthropic demands: there it is DefaultMaxTokens.
type Params struct {
	Temperature *float64
	TopP        *float64
	MaxTokens   int
	Seed        *int64 // a wish: Anthropic has no word for it
	Stop        []string

	// ResponseSchema is the JSON Schema that the answer's text obeys, in the
	// provider's strict mode: its objects list all of their properties as
	// required and allow no others. Bounds that the mode does not know are sent
	// in words. A model without such a mode answers Invalid.
	ResponseSchema jsontext.Value
}

// DefaultMaxTokens is how long an answer may be where the protocol demands a
// number and the request has none. Models that think count it here too.
const DefaultMaxTokens = 8192

// Reply is what a model answered.
type Reply struct {
	ID        string // the provider's name of the answer
	Model     string // what answered; often a dated name of what was asked
	Text      string // empty if the model only called tools, or ran out of tokens
	ToolCalls []ToolCall
	Finish    Finish
	Usage     Usage
}

// Finish is why an answer ended.
type Finish string

// The reasons.
const (
	FinishStop    Finish = "stop"       // the model was done, or came to a stop word
	FinishLength  Finish = "length"     // MaxTokens or the context were used up
	FinishTools   Finish = "tool_calls" // it waits for tools
	FinishRefused Finish = "refused"    // it would not answer, or a filter cut it; with a Refused error
	FinishOther   Finish = "other"      // a reason that only the provider knows
)

// Usage is what an answer took, in tokens. It is what price.Price.NanoUSD
// counts: Input is everything that was sent, Cached and CacheWrite are parts of
// it, and Reasoning is a part of Output. A provider that does not say leaves
// zeros.
type Usage struct {
	Input      uint32
	Cached     uint32 // read from a cache
	CacheWrite uint32 // written to a cache
	Output     uint32
	Reasoning  uint32
}
