package provider

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
)

// Faults of keys.
var (
	ErrKeyNotFound  = fault.New(fault.NotFound, "provider_key_not_found", "The provider key does not exist.")
	ErrKeyNameTaken = fault.New(fault.Conflict, "already_exists", "A provider key with this name already exists. Choose another name.")
	ErrNoMasterKey  = fault.New(fault.Conflict, "precondition_missing", "This deployment cannot store provider keys. Ask its operator to set ASSAY_SECRET_MASTER_KEY.")
	ErrSecretNeeded = fault.Invalid("body", "/secret", "required", "is required when the base URL changes: a secret is bound to its destination")
)

// KeyStatus says whether a credential can be used.
type KeyStatus string

// The statuses of provider keys.
const (
	KeyActive   KeyStatus = "active"
	KeyInvalid  KeyStatus = "invalid"
	KeyDisabled KeyStatus = "disabled"
)

// Key is a credential for a model provider. Its secret is sealed: it
// opens only for this organization, this row and this destination, and no
// operation returns it.
type Key struct {
	ID         int64
	Provider   string
	Name       string
	BaseURL    string
	Last4      string
	Models     []string
	Status     KeyStatus
	Version    int64
	LastUsedAt *time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time

	// MonthlyCapNanoUSD is what calls with the key may cost in a calendar month,
	// nil if there is no cap; MonthSpentNanoUSD is what they have cost in this one.
	MonthlyCapNanoUSD *uint64
	MonthSpentNanoUSD uint64

	sealed []byte
}

// providerURLs are where providers are called unless a key says otherwise.
var providerURLs = map[string]string{
	"openai":    "https://api.openai.com/v1",
	"anthropic": "https://api.anthropic.com/v1",
	"google":    "https://generativelanguage.googleapis.com/v1beta",
}

// KeyFilter selects credentials; an empty field matches everything, and
// a list matches any of its values.
type KeyFilter struct {
	Status                      []KeyStatus
	Provider, Search            string
	CreatedAfter, CreatedBefore *time.Time
	postgres.Page
}

// List returns a page of credentials, newest first, with one credential more
// than the limit if there is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, f KeyFilter) ([]Key, int64, error) {
	return s.store.list(ctx, org, f, month(s.clock()))
}

// Find returns one credential, its secret sealed.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Key, error) {
	return s.store.find(ctx, s.db.Org(org), org, id, month(s.clock()))
}

// CreateTx seals a secret and keeps it.
func (s *Service) CreateTx(ctx context.Context, tx postgres.Tx, k Key, text secret.Text) (Key, error) {
	if k.BaseURL == "" {
		k.BaseURL = providerURLs[k.Provider]
	}
	if k.BaseURL == "" {
		return Key{}, fault.Invalid("body", "/baseUrl", "required", "is required for this provider")
	}
	if err := s.egress.CheckURL(k.BaseURL); err != nil {
		return Key{}, err
	}
	k.Status, k.Version, k.Last4 = KeyActive, 1, last4(text)
	at := s.now()
	k.CreatedAt, k.UpdatedAt = at, at
	var err error
	if k.ID, err = s.store.insertTx(ctx, tx, k); err != nil {
		return Key{}, err
	}
	if k.sealed, err = s.sealTx(ctx, tx, k, text); err != nil {
		return Key{}, err
	}
	if err := s.store.setSecretTx(ctx, tx, k.ID, k.sealed); err != nil {
		return Key{}, err
	}
	return k, change.RecordTx(ctx, s.log, tx, eventKeyCreated, k.ID, nil, &k)
}

// UpdateTx changes a credential. A new destination needs the secret
// again: the stored one does not open for it.
func (s *Service) UpdateTx(ctx context.Context, tx postgres.Tx, id, expected int64, text secret.Text, edit func(*Key)) (Key, error) {
	return change.Update(change.Edit[Key]{
		Expected: expected, Conflict: tenancy.ErrVersionConflict, Unseen: text != "",
		Lock: func() (Key, error) { return s.store.lockTx(ctx, tx, id, month(s.clock())) },
		Apply: func(k *Key) (err error) {
			old := k.BaseURL
			edit(k)
			if k.BaseURL != old {
				if err := s.egress.CheckURL(k.BaseURL); err != nil {
					return err
				}
				if text == "" {
					return ErrSecretNeeded
				}
			}
			if text != "" {
				k.Last4 = last4(text)
				k.sealed, err = s.sealTx(ctx, tx, *k, text)
			}
			return err
		},
		Save: func(before Key, after *Key) error {
			after.UpdatedAt, after.Version = s.now(), before.Version+1
			return s.store.updateTx(ctx, tx, before.Version, *after)
		},
		Audit: func(before, after Key) error {
			return change.RecordTx(ctx, s.log, tx, eventKeyUpdated, id, &before, &after)
		},
	})
}

// DeleteTx removes a credential and its secret.
func (s *Service) DeleteTx(ctx context.Context, tx postgres.Tx, id int64) error {
	before, err := s.store.lockTx(ctx, tx, id, month(s.clock()))
	if err != nil {
		return err
	}
	if err := s.store.deleteTx(ctx, tx, id, s.now()); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, eventKeyDeleted, id, &before, nil)
}

// Open opens a credential's secret for a call to url. It opens only
// if url leads to the destination that the secret was sealed for.
func (s *Service) Open(ctx context.Context, org principal.OrgID, k Key, url string) (secret.Text, error) {
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
func (s *Service) sealTx(ctx context.Context, tx postgres.Tx, k Key, text secret.Text) ([]byte, error) {
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
func binding(org principal.OrgID, k Key, url string) (secret.Binding, error) {
	destination, err := secret.Destination(url)
	if err != nil {
		return secret.Binding{}, fault.Invalid("body", "/baseUrl", "format", "is not a URL with a host")
	}
	return secret.Binding{Org: org.String(), Credential: strconv.FormatInt(k.ID, 10), Provider: k.Provider, Destination: destination}, nil
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

// Erase forgets the keys of an erased organization that this process holds in
// memory; what is stored is erased with the organization's rows.
func (s *Service) Erase(_ context.Context, org principal.OrgID) (int64, error) {
	if s.secrets != nil {
		s.secrets.Forget(org.String())
	}
	s.tills.forget(org)
	return 0, nil
}
