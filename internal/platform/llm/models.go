package llm

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// ListModels is a request that lists the models of an endpoint, which costs nothing
// and needs the key.
func ListModels(ctx context.Context, to Endpoint) (*http.Request, error) {
	target, err := url.Parse(to.BaseURL)
	if err != nil {
		return nil, err
	}
	path := strings.TrimRight(target.Path, "/")
	path = strings.TrimSuffix(path, responsesPath)
	if above, _, ok := strings.Cut(path, "/deployments"); ok && isAzure(to.Provider) {
		path = above
	}
	target.Path, target.RawPath = path+"/models", ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	p := protocolOf(to)
	p.authorize(req.Header, to)
	if s, ok := p.(signing); ok {
		return req, s.sign(req, nil, to)
	}
	return req, nil
}
