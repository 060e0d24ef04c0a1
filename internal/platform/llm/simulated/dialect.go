package simulated

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// dialect is one of the protocols.
type dialect interface {
	// key is the caller's credential, if the headers are what the provider
	// demands.
	key(h http.Header) (string, *failure)
	read(body []byte) (*prompt, *failure)
	answer(id string, p *prompt, a answer) []byte
	stream(id string, p *prompt, a answer) []byte // the same in events
	failure(f *failure, id string) []byte
	requestID() string // the name of the header
	overloaded() int   // the status
}

// failure is a call that the provider refuses.
type failure struct {
	status        int
	code, message string // code is OpenAI's; Anthropic has a type for each status
	retryAfter    time.Duration
}

func unknownKey() *failure {
	return &failure{status: http.StatusUnauthorized, code: "invalid_api_key", message: "The key is not one that this provider was told to accept."}
}

const (
	maxBody  = 32 << 20 // Anthropic's
	jsonType = "application/json"
)

func send(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	w.Write(body) //nolint:gosec // an echo is what is asked for, and it is JSON
}

func invalid(message string) *failure {
	return &failure{status: http.StatusBadRequest, message: message}
}

// created is when an answer was made, as OpenAI writes it.
func created() int64 { return time.Now().Unix() }

// mustJSON writes a value of this package's own types.
func mustJSON(v any) []byte {
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		panic(err) // a type of ours cannot be written
	}
	return out
}

// object is a piece of an event.
type object = map[string]any
