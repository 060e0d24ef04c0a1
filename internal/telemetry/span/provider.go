package span

import "bytes"

// The providers that OpenTelemetry has names for, and a few more.
var (
	providerOpenAI     = []byte("openai")
	providerAzure      = []byte("azure.ai.openai")
	providerAzureAI    = []byte("azure.ai.inference")
	providerAnthropic  = []byte("anthropic")
	providerBedrock    = []byte("aws.bedrock")
	providerVertex     = []byte("gcp.vertex_ai")
	providerGemini     = []byte("gcp.gemini")
	providerGoogle     = []byte("gcp.gen_ai")
	providerCohere     = []byte("cohere")
	providerMistral    = []byte("mistral_ai")
	providerDeepSeek   = []byte("deepseek")
	providerXAI        = []byte("x_ai")
	providerGroq       = []byte("groq")
	providerPerplexity = []byte("perplexity")
	providerMoonshot   = []byte("moonshot_ai")
	providerWatsonx    = []byte("ibm.watsonx.ai")
	providerOllama     = []byte("ollama")
	providerTogether   = []byte("together_ai")
	providerFireworks  = []byte("fireworks_ai")
	providerOpenRouter = []byte("openrouter")
)

// providerName is OpenTelemetry's name of a provider, so that one provider
// has one name whatever library speaks of it. A name that is not known stays
// as it is.
func providerName(name []byte) []byte {
	var low [24]byte
	if len(name) > len(low) {
		return name
	}
	for i, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c == '-' || c == ' ':
			c = '_'
		}
		low[i] = c
	}
	known := low[:len(name)]
	if p := knownProvider(known); p != nil {
		return p
	}
	// The AI SDK appends which of a provider's interfaces it speaks to.
	if first, rest, ok := bytes.Cut(known, []byte(".")); ok {
		if string(first) == "google" && hasPrefix(rest, "vertex") {
			return providerVertex
		}
		if p := knownProvider(first); p != nil {
			return p
		}
	}
	return name
}

func knownProvider(name []byte) []byte {
	switch string(name) {
	case "openai":
		return providerOpenAI
	case "azure", "azure_openai", "azure.ai.openai", "az.ai.openai", "azureopenai":
		return providerAzure
	case "azure.ai.inference", "az.ai.inference", "azure_ai", "azure_ai_inference":
		return providerAzureAI
	case "anthropic", "claude":
		return providerAnthropic
	case "aws.bedrock", "aws_bedrock", "bedrock", "amazon_bedrock", "aws", "amazon":
		return providerBedrock
	case "gcp.vertex_ai", "vertex_ai", "vertexai", "vertex", "google_vertexai", "google_vertex":
		return providerVertex
	case "gcp.gemini", "gemini", "google.generative_ai", "google_genai", "google_generativeai", "google_ai":
		return providerGemini
	case "gcp.gen_ai", "google":
		return providerGoogle
	case "cohere":
		return providerCohere
	case "mistral_ai", "mistralai", "mistral":
		return providerMistral
	case "deepseek":
		return providerDeepSeek
	case "x_ai", "xai", "grok":
		return providerXAI
	case "groq":
		return providerGroq
	case "perplexity":
		return providerPerplexity
	case "moonshot_ai", "moonshotai", "moonshot":
		return providerMoonshot
	case "ibm.watsonx.ai", "watsonx", "watsonx.ai", "ibm":
		return providerWatsonx
	case "ollama":
		return providerOllama
	case "together_ai", "togetherai", "together":
		return providerTogether
	case "fireworks_ai", "fireworks":
		return providerFireworks
	case "openrouter":
		return providerOpenRouter
	default:
		return nil
	}
}

// providerOfModel tells the provider from a model's name: a router's prefix,
// the form of a Bedrock id, or a family that one provider alone serves. Open
// models tell nothing: many serve them.
func providerOfModel(model []byte) []byte {
	if first, _, ok := bytes.Cut(model, []byte("/")); ok {
		switch string(first) {
		case "models":
			return providerGemini
		case "publishers", "projects":
			return providerVertex
		case "accounts":
			return providerFireworks
		case "google", "mistralai", "deepseek":
			// These publish open models under their own names.
			return nil
		}
		return knownProvider(first)
	}
	for _, p := range bedrockPrefixes {
		if hasPrefix(model, p) {
			return providerBedrock
		}
	}
	for i := range modelFamilies {
		if hasPrefix(model, modelFamilies[i].prefix) {
			return modelFamilies[i].provider
		}
	}
	return nil
}

var bedrockPrefixes = [...]string{
	"anthropic.", "amazon.", "meta.llama", "cohere.", "mistral.", "ai21.",
	"us.", "eu.", "apac.", "global.", "arn:aws:bedrock",
}

var modelFamilies = [...]struct {
	prefix   string
	provider []byte
}{
	{"gpt-", providerOpenAI},
	{"claude", providerAnthropic},
	{"gemini", providerGemini},
	{"text-embedding-00", providerGemini},
	{"text-embedding-", providerOpenAI},
	{"o1", providerOpenAI},
	{"o3", providerOpenAI},
	{"o4", providerOpenAI},
	{"chatgpt-", providerOpenAI},
	{"ft:gpt-", providerOpenAI},
	{"davinci", providerOpenAI},
	{"whisper-", providerOpenAI},
	{"tts-", providerOpenAI},
	{"dall-e", providerOpenAI},
	{"command", providerCohere},
	{"embed-", providerCohere},
	{"rerank-", providerCohere},
	{"mistral", providerMistral},
	{"codestral", providerMistral},
	{"magistral", providerMistral},
	{"ministral", providerMistral},
	{"pixtral", providerMistral},
	{"devstral", providerMistral},
	{"deepseek", providerDeepSeek},
	{"grok-", providerXAI},
	{"sonar", providerPerplexity},
	{"kimi-", providerMoonshot},
	{"moonshot-", providerMoonshot},
}
