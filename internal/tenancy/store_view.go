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
	return id, viewError(err, "insert view")
}

// lockViewsTx counts the organization's views, and keeps others from adding any
// and members from leaving until the transaction ends.
func (s store) lockViewsTx(ctx context.Context, tx postgres.Tx) (int64, error) {
	if _, err := db.New(tx).LockViews(ctx, tx.Org); err != nil {
		return 0, postgres.Missing(err, "lock views", ErrOrganizationNotFound)
	}
	n, err := db.New(tx).CountAllViews(ctx, tx.Org)
	return n, postgres.Wrap(err, "count views")
}

func (s store) updateViewTx(ctx context.Context, tx postgres.Tx, v View) error {
	filters, err := json.Marshal(v.Filters, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode filters: %w", err)
	}
	err = db.New(tx).UpdateView(ctx, db.UpdateViewParams{
		OrgID: tx.Org, ID: v.ID, Name: v.Name, Filters: filters, Version: v.Version, UpdatedAt: v.UpdatedAt,
	})
	return viewError(err, "update view")
}

func viewError(err error, doing string) error {
	if postgres.Violates(err, "views_name") {
		return ErrViewNameTaken
	}
	return postgres.Wrap(err, doing)
}

// view finds a view that the person may see; nil is nobody.
func (s store) view(ctx context.Context, org principal.OrgID, person *uuid.UUID, id int64) (View, error) {
	r, err := db.New(s.db.Org(org)).FindView(ctx, db.FindViewParams{OrgID: org, ID: id, Person: person})
	return postgres.DecodeOne(db.ListViewsRow(r), err, "find view", ErrViewNotFound, fromViewRow)
}

// lockViewTx finds a view that the person may see; nil is nobody.
func (s store) lockViewTx(ctx context.Context, tx postgres.Tx, person *uuid.UUID, id int64) (View, error) {
	r, err := db.New(tx).LockView(ctx, db.LockViewParams{OrgID: tx.Org, ID: id, Person: person})
	return postgres.DecodeOne(db.ListViewsRow(r), err, "lock view", ErrViewNotFound, fromViewRow)
}

func (s store) deleteViewTx(ctx context.Context, tx postgres.Tx, id int64) error {
	return postgres.Wrap(db.New(tx).DeleteView(ctx, db.DeleteViewParams{OrgID: tx.Org, ID: id}), "delete view")
}

// deleteViewsOfTx removes the personal views of a member and returns them.
func (s store) deleteViewsOfTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) ([]View, error) {
	rows, err := db.New(tx).DeleteViewsOf(ctx, db.DeleteViewsOfParams{OrgID: tx.Org, OwnerID: &user})
	return postgres.DecodeAll(rows, err, "delete views of member", func(r db.DeleteViewsOfRow) (View, error) {
		return fromViewRow(db.ListViewsRow(r))
	})
}

func (s store) views(ctx context.Context, org principal.OrgID, person *uuid.UUID, f ViewFilter) ([]View, int64, error) {
	q := db.New(s.db.Org(org))
	rows, err := q.ListViews(ctx, db.ListViewsParams{
		OrgID: org, Person: person, Lists: f.Lists, Below: f.Below, RowLimit: f.Rows(), RowOffset: f.Skip(),
	})
	out, err := postgres.DecodeAll(rows, err, "list views", fromViewRow)
	if err != nil || !f.Count {
		return out, 0, err
	}
	total, err := q.CountViews(ctx, db.CountViewsParams{OrgID: org, Person: person, Lists: f.Lists})
	return out, total, postgres.Wrap(err, "count views")
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
