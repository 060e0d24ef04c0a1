package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// bedrock is Anthropic's protocol as Amazon speaks it: the model is in the path,
// and the version in the body. A secret is a key of Bedrock's own, or credentials
// of an identity as ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN], which sign
// each request. Models of others are asked below /openai/v1, with the chat.
type bedrock struct{ messages }

const bedrockVersion = "bedrock-2023-05-31"

func (bedrock) path(r Request) string { return "/model/" + r.Model + "/invoke" }

// escapedPath keeps the slashes in the name of a model, which is an ARN for some.
func (bedrock) escapedPath(r Request) string {
	return "/model/" + url.PathEscape(r.Model) + "/invoke"
}

func (bedrock) authorize(h http.Header, to Endpoint) {
	if _, ok := identity(to); !ok && to.Secret != "" {
		h.Set("Authorization", "Bearer "+to.Secret.Reveal())
	}
}

func (b bedrock) encode(to Endpoint, r Request) ([]byte, error) {
	body, err := b.messages.encode(to, r)
	if err != nil {
		return nil, err
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(body, &fields, lenient); err != nil {
		return nil, err
	}
	delete(fields, "model")
	fields["anthropic_version"] = jsontext.Value(`"` + bedrockVersion + `"`)
	return json.Marshal(fields, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// sign signs a request with the credentials of an identity.
func (bedrock) sign(req *http.Request, body []byte, to Endpoint) error {
	who, ok := identity(to)
	if !ok {
		return nil
	}
	sum := sha256.Sum256(body)
	return v4.NewSigner().SignHTTP(req.Context(), who, req, hex.EncodeToString(sum[:]), "bedrock", region(req.URL.Hostname()), time.Now())
}

// identity reads credentials that sign. Keys of Bedrock's own have no colon.
func identity(to Endpoint) (aws.Credentials, bool) {
	id, rest, ok := strings.Cut(to.Secret.Reveal(), ":")
	if !ok {
		return aws.Credentials{}, false
	}
	key, session, _ := strings.Cut(rest, ":")
	return aws.Credentials{AccessKeyID: id, SecretAccessKey: key, SessionToken: session}, true
}

// region is the part of a host that names one: bedrock-runtime.eu-west-1.amazonaws.com.
func region(host string) string {
	for part := range strings.SplitSeq(host, ".") {
		if strings.Count(part, "-") >= 2 && !strings.HasPrefix(part, "bedrock") && !strings.HasPrefix(part, "vpce") {
			return part
		}
	}
	return "us-east-1"
}
