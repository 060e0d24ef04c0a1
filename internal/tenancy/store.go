package tenancy

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

// Stores are the databases of the domain.
type Stores struct {
	Postgres   *postgres.DB
	ClickHouse *clickhouse.DB
}

type store struct {
	db *postgres.DB
	ch *clickhouse.DB
}

func (s store) insertOrganizationTx(ctx context.Context, tx postgres.Tx, o Organization, at time.Time) error {
	err := db.New(tx).InsertOrganization(ctx, db.InsertOrganizationParams{OrgID: tx.Org, Name: o.Name, Plan: string(o.Plan), CreatedAt: at})
	return postgres.Wrap(err, "insert organization")
}

func (s store) organization(ctx context.Context, q db.DBTX, org principal.OrgID) (Organization, error) {
	r, err := db.New(q).FindOrganization(ctx, org)
	if err != nil {
		return Organization{}, postgres.Missing(err, "find organization", ErrOrganizationNotFound)
	}
	o := Organization{
		ID: r.ID, Name: r.Name, Status: Status(r.Status), Plan: Plan(r.Plan), HourlyLimit: number(r.HourlyLimit),
		Version: r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if err := json.Unmarshal(r.Settings, &o.Settings); err != nil {
		return Organization{}, fmt.Errorf("read settings: %w", err)
	}
	return o, nil
}

// lockOrganizationTx reads the organization, which does not change until the
// transaction ends.
func (s store) lockOrganizationTx(ctx context.Context, tx postgres.Tx) (Organization, error) {
	if _, err := db.New(tx).LockOrganization(ctx, tx.Org); err != nil {
		return Organization{}, postgres.Missing(err, "lock organization", ErrOrganizationNotFound)
	}
	return s.organization(ctx, tx, tx.Org)
}

func (s store) updateOrganizationTx(ctx context.Context, tx postgres.Tx, expected int64, o Organization) error {
	settings, err := json.Marshal(o.Settings, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode settings: %w", err)
	}
	n, err := db.New(tx).UpdateOrganization(ctx, db.UpdateOrganizationParams{
		OrgID: tx.Org, Name: o.Name, Settings: settings, UpdatedAt: o.UpdatedAt, ExpectedVersion: expected,
	})
	return postgres.Changed(n, err, "update organization", ErrVersionConflict)
}

func (s store) setPlanTx(ctx context.Context, tx postgres.Tx, plan Plan, hourly int, at time.Time) error {
	p := db.SetPlanParams{OrgID: tx.Org, Plan: string(plan), UpdatedAt: at}
	if hourly > 0 {
		h := int32(hourly)
		p.HourlyLimit = &h
	}
	n, err := db.New(tx).SetPlan(ctx, p)
	return postgres.Changed(n, err, "set plan", ErrOrganizationNotFound)
}

func (s store) setStatusTx(ctx context.Context, tx postgres.Tx, from, to Status, at time.Time) error {
	n, err := db.New(tx).SetStatus(ctx, db.SetStatusParams{OrgID: tx.Org, Status: string(to), ExpectedStatus: string(from), UpdatedAt: at})
	if err != nil {
		return fmt.Errorf("set status: %w", err)
	}
	if n == 0 {
		o, err := s.organization(ctx, tx, tx.Org)
		if err != nil {
			return err
		}
		return transitions.In(ErrTransition, o.Status)
	}
	return nil
}

func (s store) insertMemberTx(ctx context.Context, tx postgres.Tx, m Member) error {
	err := db.New(tx).InsertMember(ctx, db.InsertMemberParams{
		OrgID: tx.Org, UserID: m.UserID, Email: m.Email, Name: m.Name, Role: string(m.Role), Status: string(m.Status), CreatedAt: m.CreatedAt,
	})
	if postgres.Violates(err, "members_email") {
		return ErrMemberExists
	}
	return postgres.Wrap(err, "insert member")
}

func (s store) member(ctx context.Context, q db.DBTX, org principal.OrgID, user uuid.UUID) (Member, error) {
	r, err := db.New(q).FindMember(ctx, db.FindMemberParams{OrgID: org, UserID: user})
	return postgres.One(db.ListMembersRow(r), err, "find member", ErrMemberNotFound, fromMemberRow)
}

func (s store) members(ctx context.Context, org principal.OrgID, f MemberFilter) ([]Member, int64, error) {
	q := db.New(s.db.Org(org))
	count := db.CountMembersParams{
		OrgID: org, Statuses: postgres.Texts(f.Status), Roles: postgres.Texts(f.Role), Search: postgres.OrNull(f.Search),
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
	}
	rows, err := q.ListMembers(ctx, db.ListMembersParams{
		OrgID: count.OrgID, Statuses: count.Statuses, Roles: count.Roles, Search: count.Search,
		CreatedAfter: count.CreatedAfter, CreatedBefore: count.CreatedBefore,
		BelowCreatedAt: f.Below.CreatedAt, BelowUserID: f.Below.UserID, RowLimit: int32(f.Limit) + 1, RowOffset: int32(f.Offset),
	})
	return postgres.Listed(rows, err, "members", fromMemberRow, f.Count, func() (int64, error) { return q.CountMembers(ctx, count) })
}

func (s store) ownersTx(ctx context.Context, tx postgres.Tx) (int64, error) {
	n, err := db.New(tx).CountOwners(ctx, tx.Org)
	return n, postgres.Wrap(err, "count owners")
}

func (s store) updateMemberTx(ctx context.Context, tx postgres.Tx, m Member) error {
	_, err := db.New(tx).UpdateMember(ctx, db.UpdateMemberParams{OrgID: tx.Org, UserID: m.UserID, Name: m.Name, Role: string(m.Role), Status: string(m.Status)})
	return postgres.Wrap(err, "update member")
}

func (s store) removeMemberTx(ctx context.Context, tx postgres.Tx, user uuid.UUID, at time.Time) error {
	if _, err := db.New(tx).RemoveMember(ctx, db.RemoveMemberParams{OrgID: tx.Org, UserID: user, RemovedAt: &at}); err != nil {
		return fmt.Errorf("remove member: %w", err)
	}
	return nil
}

func fromMemberRow(r db.ListMembersRow) Member {
	return Member{UserID: r.UserID, Email: r.Email, Name: r.Name, Role: principal.Role(r.Role), Status: MemberStatus(r.Status), CreatedAt: r.CreatedAt, Version: r.Version}
}

// number is the value of a nullable integer; null is zero.
func number(n *int32) int {
	if n == nil {
		return 0
	}
	return int(*n)
}

func (s store) rolesTx(ctx context.Context, tx postgres.Tx, users []uuid.UUID) (map[uuid.UUID]principal.Role, error) {
	rows, err := db.New(tx).ListRoles(ctx, db.ListRolesParams{OrgID: tx.Org, Users: users})
	if err != nil {
		return nil, fmt.Errorf("list roles: %w", err)
	}
	out := make(map[uuid.UUID]principal.Role, len(rows))
	for _, r := range rows {
		out[r.UserID] = principal.Role(r.Role)
	}
	return out, nil
}

func (s store) named(ctx context.Context, org principal.OrgID, names []string) ([]uuid.UUID, error) {
	people, err := db.New(s.db.Org(org)).ListNamedMembers(ctx, db.ListNamedMembersParams{OrgID: org, Names: names})
	return people, postgres.Wrap(err, "find members by name")
}
