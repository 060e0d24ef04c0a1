package tenancy

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrOwnerDeletes is returned when somebody other than an owner wants to
// delete the organization.
var ErrOwnerDeletes = fault.New(fault.Forbidden, "owners_only", "Only an owner can delete the organization.")

// ErrCertificateNotFound is returned when no such organization was deleted.
var ErrCertificateNotFound = fault.New(fault.NotFound, "certificate_not_found", "No organization with this id was deleted here.")

// TopicOrganizationDeleted is published when an organization is to be erased.
const TopicOrganizationDeleted = "organization.deleted"

// Deletion is an organization that is to be erased.
type Deletion struct {
	Org principal.OrgID `json:"org"`
}

// Certificate says what was erased of an organization, and when.
type Certificate struct {
	Org         principal.OrgID
	RequestedAt time.Time
	RequestedBy string
	CompletedAt *time.Time
	// Contents is how many rows were erased, by database and table.
	Contents map[string]map[string]int64
	// Digest is the SHA-256 of the certificate in canonical JSON.
	Digest []byte
}

// DeleteOrganizationTx ends the organization: its keys stop working with the
// commit, and everything it has is erased in the background.
func (s *Service) DeleteOrganizationTx(ctx context.Context, tx postgres.Tx) error {
	if !mayTouchOwners(ctx) {
		return ErrOwnerDeletes
	}
	o, err := s.store.lockOrganizationTx(ctx, tx)
	if err != nil {
		return err
	}
	if o.Status == StatusDeleting {
		return transitions.In(ErrTransition, o.Status)
	}
	if err := s.store.setStatusTx(ctx, tx, o.Status, StatusDeleting, s.now()); err != nil {
		return err
	}
	keys, err := s.store.revokeAllKeysTx(ctx, tx, s.now())
	if err != nil {
		return err
	}
	if err := s.auditRevokedTx(ctx, tx, keys); err != nil {
		return err
	}
	by := "key " + principal.From(ctx).KeyID
	if user := principal.From(ctx).User; user != nil {
		by = "user " + user.String()
	}
	if err := s.store.insertCertificateTx(ctx, tx, by, s.now()); err != nil {
		return err
	}
	if err := s.log.AuditTx(ctx, tx, change.Entry{Event: eventOrganizationDeleted, ID: tx.Org.String(), Before: o}); err != nil {
		return err
	}
	return s.log.PublishTx(ctx, tx, TopicOrganizationDeleted, tx.Org.String(), Deletion{Org: tx.Org})
}

// Certificate returns what was erased of an organization. Only the operator of
// the deployment asks: the organization is gone.
func (s *Service) Certificate(ctx context.Context, org principal.OrgID) (Certificate, error) {
	return s.store.certificate(ctx, org)
}

// CountErasedTx changes how many entries of a table, or of another place, the
// certificate says were erased, in the transaction that erases them if one
// does.
func (s *Service) CountErasedTx(ctx context.Context, tx postgres.Tx, place, table string, count func(before int64) int64) error {
	return editCertificateTx(ctx, tx, place, table, count)
}

// EraseOrganizationTx erases the organization itself, after everything that it
// had, and completes its certificate.
func (s *Service) EraseOrganizationTx(ctx context.Context, tx postgres.Tx) error {
	n, err := s.store.eraseOrganizationTx(ctx, tx)
	if err != nil {
		return err
	}
	err = editCertificateTx(ctx, tx, "postgres", "organizations", func(counted int64) int64 { return counted + n })
	if err != nil {
		return err
	}
	return completeCertificateTx(ctx, tx, s.now())
}
