package httpapi

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
)

// idempotencyKey reads the header: at most 255 printable ASCII characters.
func idempotencyKey(r *http.Request) (string, []fault.Field) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	bad := strings.IndexFunc(key, func(c rune) bool { return c < ' ' || c > '~' })
	if len(values) > 1 || key == "" || len(key) > 255 || bad >= 0 {
		return "", []fault.Field{{In: "header", Path: "Idempotency-Key", Code: "format", Message: "must be given once, with 1 to 255 printable ASCII characters"}}
	}
	return key, nil
}

func idempotencyParam() *huma.Param {
	limit := 255
	return &huma.Param{
		Name: "Idempotency-Key", In: "header",
		Description: "Makes the request safe to retry: repeating it with the same key and content within 24 hours has no further effect and returns the first response, with the header Idempotent-Replayed: true.",
		Schema:      &huma.Schema{Type: huma.TypeString, MaxLength: &limit},
	}
}

// fingerprint names what a request asks for, under which condition and as whom.
// The key does not count: a repetition may come with its successor. Neither do
// the order of members and white space: a client may encode in another way.
func fingerprint(r *http.Request, operation, query string, body []byte) []byte {
	canonical := jsontext.Value(bytes.Clone(body))
	if len(canonical) > 0 && canonical.Canonicalize() != nil {
		canonical = body
	}
	sum := sha256.New()
	person := ""
	if user := principal.From(r.Context()).User; user != nil {
		person = user.String()
	}
	_, _ = io.WriteString(sum, operation+"\n"+query+"\n"+r.Header.Get("If-Match")+"\n"+person+"\n")
	sum.Write(canonical)
	return sum.Sum(nil)
}
