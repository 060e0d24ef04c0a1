package tenancy

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/principal"
)

// Faults of provider keys.
var (
	ErrProviderKeyNotFound  = fault.New(fault.NotFound, "provider_key_not_found", "The provider key does not exist.")
	ErrProviderKeyNameTaken = fault.New(fault.Conflict, "already_exists", "A provider key with this name already exists. Choose another name.")
	ErrNoMasterKey          = fault.New(fault.Conflict, "precondition_missing", "This deployment cannot store provider keys. Ask its operator to set ASSAY_SECRET_MASTER_KEY.")
	ErrSecretNeeded         = fault.Invalid("body", "/secret", "required", "is required when the base URL changes: a secret is bound to its destination")
)

// ProviderKeyStatus says whether a credential can be used.
type ProviderKeyStatus string

// The statuses of provider keys.
const (
	ProviderKeyActive   ProviderKeyStatus = "active"
	ProviderKeyInvalid  ProviderKeyStatus = "invalid"
	ProviderKeyDisabled ProviderKeyStatus = "disabled"
)

// ProviderKey is a credential for a model provider. Its secret is sealed: it
// opens only for this organization, this row and this destination, and no
// operation returns it.
type ProviderKey struct {
	ID         int64
	Provider   string
	Name       string
	BaseURL    string
	Last4      string
	Models     []string
	Status     ProviderKeyStatus
	Version    int64
	LastUsedAt *time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time

	sealed []byte
}

// providerURLs are where providers are called unless a key says otherwise.
var providerURLs = map[string]string{
	"openai":    "https://api.openai.com/v1",
	"anthropic": "https://api.anthropic.com/v1",
}

// ProviderKeyFilter selects credentials; an empty field matches everything, and
// a list matches any of its values.
type ProviderKeyFilter struct {
	Status                      []string
	Provider, Search            string
	CreatedAfter, CreatedBefore *time.Time
	Limit, Offset               int
}

// ProviderKeys returns a page of credentials, newest first, and how many there
// are.
func (s *Service) ProviderKeys(ctx context.Context, org principal.OrgID, f ProviderKeyFilter) ([]ProviderKey, int64, error) {
	return s.store.providerKeys(ctx, org, f)
}

// ProviderKey returns one credential, its secret sealed.
func (s *Service) ProviderKey(ctx context.Context, org principal.OrgID, id int64) (ProviderKey, error) {
	return s.store.providerKey(ctx, s.db.Org(org), org, id)
}

// CreateProviderKeyTx seals a secret and keeps it.
func (s *Service) CreateProviderKeyTx(ctx context.Context, tx postgres.Tx, k ProviderKey, text secret.Text) (ProviderKey, error) {
	if k.BaseURL == "" {
		k.BaseURL = providerURLs[k.Provider]
	}
	if k.BaseURL == "" {
		return ProviderKey{}, fault.Invalid("body", "/baseUrl", "required", "is required for this provider")
	}
	if err := s.egress.CheckURL(k.BaseURL); err != nil {
		return ProviderKey{}, err
	}
	k.Status, k.Version, k.Last4 = ProviderKeyActive, 1, last4(text)
	k.CreatedAt, k.UpdatedAt = s.now(), s.now()
	var err error
	if k.ID, err = s.store.insertProviderKeyTx(ctx, tx, k); err != nil {
		return ProviderKey{}, err
	}
	if k.sealed, err = s.sealTx(ctx, tx, k, text); err != nil {
		return ProviderKey{}, err
	}
	if err := s.store.setProviderSecretTx(ctx, tx, k.ID, k.sealed); err != nil {
		return ProviderKey{}, err
	}
	return k, s.auditProviderKeyTx(ctx, tx, "provider_key.created", nil, &k)
}

// UpdateProviderKeyTx changes a credential. A new destination needs the secret
// again: the stored one does not open for it.
func (s *Service) UpdateProviderKeyTx(ctx context.Context, tx postgres.Tx, id, expected int64, text secret.Text, edit func(*ProviderKey)) (ProviderKey, error) {
	before, err := s.store.providerKey(ctx, tx, tx.Org, id)
	if err != nil {
		return ProviderKey{}, err
	}
	if expected != 0 && expected != before.Version {
		return ProviderKey{}, ErrVersionConflict.With("currentVersion", before.Version)
	}
	after := before
	edit(&after)
	if after.BaseURL != before.BaseURL {
		if err := s.egress.CheckURL(after.BaseURL); err != nil {
			return ProviderKey{}, err
		}
		if text == "" {
			return ProviderKey{}, ErrSecretNeeded
		}
	}
	if text != "" {
		if after.sealed, err = s.sealTx(ctx, tx, after, text); err != nil {
			return ProviderKey{}, err
		}
		after.Last4 = last4(text)
	}
	if after.Name == before.Name && after.BaseURL == before.BaseURL && after.Status == before.Status &&
		slices.Equal(after.Models, before.Models) && bytes.Equal(after.sealed, before.sealed) {
		return before, nil
	}
	after.UpdatedAt, after.Version = s.now(), before.Version+1
	if err := s.store.updateProviderKeyTx(ctx, tx, before.Version, after); err != nil {
		return ProviderKey{}, err
	}
	return after, s.auditProviderKeyTx(ctx, tx, "provider_key.updated", &before, &after)
}

// DeleteProviderKeyTx removes a credential and its secret.
func (s *Service) DeleteProviderKeyTx(ctx context.Context, tx postgres.Tx, id int64) error {
	before, err := s.store.providerKey(ctx, tx, tx.Org, id)
	if err != nil {
		return err
	}
	if err := s.store.deleteProviderKeyTx(ctx, tx, id, s.now()); err != nil {
		return err
	}
	return s.auditProviderKeyTx(ctx, tx, "provider_key.deleted", &before, nil)
}

// ProviderSecret opens a credential's secret for a call to url. It opens only
// if url leads to the destination that the secret was sealed for.
func (s *Service) ProviderSecret(ctx context.Context, org principal.OrgID, k ProviderKey, url string) (secret.Text, error) {
	if s.secrets == nil {
		return "", ErrNoMasterKey
	}
	wrapped, err := s.store.dataKey(ctx, s.db.Org(org), org)
	if err != nil {
		return "", err
	}
	b, err := binding(org, k, url)
	if err != nil {
		return "", err
	}
	text, err := s.secrets.Unseal(wrapped, k.sealed, b)
	if err != nil {
		return "", fmt.Errorf("open provider key %d: %w", k.ID, err)
	}
	return text, nil
}

// sealTx seals a secret under the organization's data key, which is made with
// the first secret.
func (s *Service) sealTx(ctx context.Context, tx postgres.Tx, k ProviderKey, text secret.Text) ([]byte, error) {
	if s.secrets == nil {
		return nil, ErrNoMasterKey
	}
	wrapped, err := s.store.dataKey(ctx, tx, tx.Org)
	if postgres.NoRows(err) {
		made, err := s.secrets.NewDataKey(tx.Org.String())
		if err != nil {
			return nil, fmt.Errorf("make data key: %w", err)
		}
		if err := s.store.insertDataKeyTx(ctx, tx, made, s.now()); err != nil {
			return nil, err
		}
		// Another process may have been quicker; the stored one counts.
		wrapped, err = s.store.dataKey(ctx, tx, tx.Org)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	b, err := binding(tx.Org, k, k.BaseURL)
	if err != nil {
		return nil, err
	}
	sealed, err := s.secrets.Seal(wrapped, text, b)
	if err != nil {
		return nil, fmt.Errorf("seal provider key: %w", err)
	}
	return sealed, nil
}

// binding is what a secret is tied to: whose it is, which row, and where it
// may be sent.
func binding(org principal.OrgID, k ProviderKey, url string) (secret.Binding, error) {
	destination, err := secret.Destination(url)
	if err != nil {
		return secret.Binding{}, fault.Invalid("body", "/baseUrl", "format", "is not a URL with a host")
	}
	return secret.Binding{Org: org.String(), Credential: strconv.FormatInt(k.ID, 10), Provider: k.Provider, Destination: destination}, nil
}

func (s *Service) auditProviderKeyTx(ctx context.Context, tx postgres.Tx, action string, before, after *ProviderKey) error {
	e := change.Entry{Action: action, Resource: "provider_key"}
	if before != nil {
		e.ID, e.Before = strconv.FormatInt(before.ID, 10), *before
	}
	if after != nil {
		e.ID, e.After = strconv.FormatInt(after.ID, 10), *after
	}
	return s.log.AuditTx(ctx, tx, e)
}

// last4 is the end of a secret, for people to tell keys apart; a short secret
// shows nothing.
func last4(t secret.Text) string {
	text := t.Reveal()
	if len(text) < 16 {
		return "••••"
	}
	return text[len(text)-4:]
}
