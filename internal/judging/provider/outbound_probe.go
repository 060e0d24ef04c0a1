package provider

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
)

// errUnreachable means that there was no response.
var errUnreachable = egress.ErrUnreachable

// probe lists the provider's models.
func (s *Service) probe(ctx context.Context, org principal.OrgID, k Key) (int, time.Duration, error) {
	text, err := s.Open(ctx, org, k, k.BaseURL)
	if err != nil {
		return 0, 0, err
	}
	req, err := llm.ListModels(ctx, llm.Endpoint{Provider: k.Provider, BaseURL: k.BaseURL, Secret: text})
	if err != nil {
		return 0, 0, err
	}
	began := s.clock()
	res, err := s.egress.HTTP(egress.Options{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return 0, s.clock().Sub(began), err
	}
	return res.StatusCode, s.clock().Sub(began), res.Body.Close()
}
