package provider

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/principal"
)

// errUnreachable means that there was no response.
var errUnreachable = egress.ErrUnreachable

// probe lists the provider's models.
func (s *Service) probe(ctx context.Context, org principal.OrgID, k Key) (int, time.Duration, error) {
	url := strings.TrimSuffix(k.BaseURL, "/") + "/models"
	text, err := s.Open(ctx, org, k, url)
	if err != nil {
		return 0, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, 0, err
	}
	switch k.Provider {
	case "anthropic":
		req.Header.Set("X-Api-Key", text.Reveal())
		req.Header.Set("Anthropic-Version", "2023-06-01")
	case "google": // whose path for OpenAI's words takes this header too
		req.Header.Set("X-Goog-Api-Key", text.Reveal())
	default:
		req.Header.Set("Authorization", "Bearer "+text.Reveal())
	}
	began := s.clock()
	res, err := s.egress.HTTP(egress.Options{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return 0, s.clock().Sub(began), err
	}
	return res.StatusCode, s.clock().Sub(began), res.Body.Close()
}
