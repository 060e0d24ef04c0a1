package tenancy

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

func (s store) insertViewTx(ctx context.Context, tx postgres.Tx, v View) (int64, error) {
	filters, err := json.Marshal(v.Filters, json.Deterministic(true))
	if err != nil {
		return 0, fmt.Errorf("encode filters: %w", err)
	}
	id, err := db.New(tx).InsertView(ctx, db.InsertViewParams{
		OrgID: tx.Org, OwnerID: v.Owner, Name: v.Name, List: v.List, Filters: filters, Creator: v.CreatedBy.String(), CreatedAt: v.CreatedAt,
	})
	return id, viewError("insert view", err)
}

// lockViewsTx counts the organization's views, and keeps others from adding any
// and members from leaving until the transaction ends.
func (s store) lockViewsTx(ctx context.Context, tx postgres.Tx) (int64, error) {
	if _, err := db.New(tx).LockViews(ctx, tx.Org); postgres.NoRows(err) {
		return 0, ErrOrganizationNotFound
	} else if err != nil {
		return 0, fmt.Errorf("lock views: %w", err)
	}
	n, err := db.New(tx).CountAllViews(ctx, tx.Org)
	if err != nil {
		return 0, fmt.Errorf("count views: %w", err)
	}
	return n, nil
}

func (s store) updateViewTx(ctx context.Context, tx postgres.Tx, v View) error {
	filters, err := json.Marshal(v.Filters, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode filters: %w", err)
	}
	return viewError("update view", db.New(tx).UpdateView(ctx, db.UpdateViewParams{
		OrgID: tx.Org, ID: v.ID, Name: v.Name, Filters: filters, Version: v.Version, UpdatedAt: v.UpdatedAt,
	}))
}

func viewError(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case postgres.Violates(err, "views_name"):
		return ErrViewNameTaken
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// view finds a view that the person may see; nil is nobody.
func (s store) view(ctx context.Context, org principal.OrgID, person *uuid.UUID, id int64) (View, error) {
	r, err := db.New(s.db.Org(org)).FindView(ctx, db.FindViewParams{OrgID: org, ID: id, Person: person})
	if postgres.NoRows(err) {
		return View{}, ErrViewNotFound
	}
	if err != nil {
		return View{}, fmt.Errorf("find view: %w", err)
	}
	return fromViewRow(db.ListViewsRow(r))
}

// lockViewTx finds a view that the person may see; nil is nobody.
func (s store) lockViewTx(ctx context.Context, tx postgres.Tx, person *uuid.UUID, id int64) (View, error) {
	r, err := db.New(tx).LockView(ctx, db.LockViewParams{OrgID: tx.Org, ID: id, Person: person})
	if postgres.NoRows(err) {
		return View{}, ErrViewNotFound
	}
	if err != nil {
		return View{}, fmt.Errorf("lock view: %w", err)
	}
	return fromViewRow(db.ListViewsRow(r))
}

func (s store) deleteViewTx(ctx context.Context, tx postgres.Tx, id int64) error {
	if err := db.New(tx).DeleteView(ctx, db.DeleteViewParams{OrgID: tx.Org, ID: id}); err != nil {
		return fmt.Errorf("delete view: %w", err)
	}
	return nil
}

// deleteViewsOfTx removes the personal views of a member and returns them.
func (s store) deleteViewsOfTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) (out []View, err error) {
	rows, err := db.New(tx).DeleteViewsOf(ctx, db.DeleteViewsOfParams{OrgID: tx.Org, OwnerID: &user})
	if err != nil {
		return nil, fmt.Errorf("delete views of member: %w", err)
	}
	for _, r := range rows {
		v, err := fromViewRow(db.ListViewsRow(r))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (s store) views(ctx context.Context, org principal.OrgID, person *uuid.UUID, f ViewFilter) (out []View, total int64, err error) {
	q := db.New(s.db.Org(org))
	rows, err := q.ListViews(ctx, db.ListViewsParams{
		OrgID: org, Person: person, Lists: f.Lists, Below: f.Below, RowLimit: int32(f.Limit) + 1, RowOffset: int32(f.Offset),
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list views: %w", err)
	}
	for _, r := range rows {
		v, err := fromViewRow(r)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, v)
	}
	if f.Count {
		if total, err = q.CountViews(ctx, db.CountViewsParams{OrgID: org, Person: person, Lists: f.Lists}); err != nil {
			return nil, 0, fmt.Errorf("count views: %w", err)
		}
	}
	return out, total, nil
}

func fromViewRow(r db.ListViewsRow) (View, error) {
	v := View{
		ID: r.ID, Owner: r.OwnerID, Name: r.Name, List: r.List, CreatedBy: principal.ParseActor(r.Creator),
		Version: r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if err := json.Unmarshal(r.Filters, &v.Filters); err != nil {
		return View{}, fmt.Errorf("read filters of view %d: %w", r.ID, err)
	}
	return v, nil
}
