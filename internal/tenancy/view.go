package tenancy

import (
	"context"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

// ErrViewNotFound is returned when there is no such view, or it is another
// person's.
var ErrViewNotFound = fault.New(fault.NotFound, "view_not_found", "This view does not exist.")

// ErrViewNameTaken is returned when the list has a view with the name.
var ErrViewNameTaken = fault.New(fault.Conflict, "view_name_taken", "The list already has a view with this name. Choose another name, or change that view.")

// maxViews is how many views an organization has, those of its members included.
const maxViews = 1000

// ErrTooManyViews is returned when the organization has as many views as it may.
var ErrTooManyViews = fault.New(fault.Conflict, "too_many_views", "The organization already has 1000 views, personal ones included. Delete some that are no longer used.")

var (
	viewNoun         = event.Of("view", "View")
	eventViewCreated = viewNoun.Event("view.created", "A view was saved.")
	eventViewUpdated = viewNoun.Event("view.updated", "A view was changed.")
	eventViewDeleted = viewNoun.Event("view.deleted", "A view was deleted.")
)

// View is a named filter over a list, as its row: Filters are values of query
// parameters of the list. Its owner alone sees it; without one, the organization does.
type View db.View

// Revision counts changes of the view.
func (v View) Revision() int64 { return v.Version }

// views are the views of organizations.
type views struct{ *Service }

// List returns a page of the organization's views and of the caller's own, with
// one view more than the limit if there is a next page. No lists are all lists.
func (n views) List(ctx context.Context, org principal.OrgID, lists []string, p postgres.Page) ([]View, int64, error) {
	q, person := db.New(n.db.Org(org)), principal.From(ctx).User
	rows, err := q.ListViews(ctx, db.ListViewsParams{OrgID: org, Person: person, Lists: lists, Below: p.Below, RowLimit: p.Rows(), RowOffset: p.Skip()})
	return postgres.Listed(rows, err, "views", func(r db.View) View { return View(r) }, p.Count, func() (int64, error) {
		return q.CountViews(ctx, db.CountViewsParams{OrgID: org, Person: person, Lists: lists})
	})
}

// CreateTx saves a view, unless the organization has too many. A personal one
// needs a person, who is still a member. Views of one organization are created
// one after the other, and not while a member is removed, so both hold.
func (n views) CreateTx(ctx context.Context, tx postgres.Tx, v View, personal bool) (View, error) {
	if _, err := db.New(tx).LockViews(ctx, tx.Org); err != nil {
		return View{}, postgres.Missing(err, "lock views", ErrOrganizationNotFound)
	}
	count, err := db.New(tx).CountAllViews(ctx, tx.Org)
	if err != nil {
		return View{}, postgres.Wrap(err, "count views")
	}
	if personal {
		user, err := person(ctx)
		if err != nil {
			return View{}, err
		}
		if _, err := n.store.member(ctx, tx, tx.Org, user); err != nil {
			return View{}, err
		}
		v.OwnerID = &user
	}
	if count >= maxViews {
		return View{}, ErrTooManyViews
	}
	row, err := db.New(tx).InsertView(ctx, db.InsertViewParams{
		OrgID: tx.Org, OwnerID: v.OwnerID, Name: v.Name, List: v.List, Filters: v.Filters, Creator: principal.ActorOf(ctx), CreatedAt: n.now(),
	})
	if err != nil {
		return View{}, viewError(err, "insert view")
	}
	created := View(row)
	return created, change.RecordTx(ctx, n.log, tx, eventViewCreated, created.ID, nil, &created)
}

// Find returns one view, if the caller may see it.
func (n views) Find(ctx context.Context, org principal.OrgID, id int64) (View, error) {
	r, err := db.New(n.db.Org(org)).FindView(ctx, db.FindViewParams{OrgID: org, ID: id, Person: principal.From(ctx).User})
	return View(r), postgres.Missing(err, "find view", ErrViewNotFound)
}

// UpdateTx changes a view's name and filters. A nonzero expected version
// must be the current one.
func (n views) UpdateTx(ctx context.Context, tx postgres.Tx, id, expected int64, edit func(*View)) (View, error) {
	return change.Update(change.Edit[View]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock: func() (View, error) {
			r, err := db.New(tx).LockView(ctx, db.LockViewParams{OrgID: tx.Org, ID: id, Person: principal.From(ctx).User})
			return View(r), postgres.Missing(err, "lock view", ErrViewNotFound)
		},
		Apply: func(v *View) error { edit(v); return nil },
		Save: func(_ View, after *View) error {
			r, err := db.New(tx).UpdateView(ctx, db.UpdateViewParams{OrgID: tx.Org, ID: id, Name: after.Name, Filters: after.Filters, UpdatedAt: n.now()})
			*after = View(r)
			return viewError(err, "update view")
		},
		Audit: func(before, after View) error {
			return change.RecordTx(ctx, n.log, tx, eventViewUpdated, id, &before, &after)
		},
	})
}

// viewError is a failure to write a view.
func viewError(err error, doing string) error {
	if postgres.Violates(err, "views_name") {
		return ErrViewNameTaken
	}
	return postgres.Wrap(err, doing)
}

// DeleteTx removes a view.
func (n views) DeleteTx(ctx context.Context, tx postgres.Tx, id int64) error {
	row, err := db.New(tx).DeleteView(ctx, db.DeleteViewParams{OrgID: tx.Org, ID: id, Person: principal.From(ctx).User})
	if err != nil {
		return postgres.Missing(err, "delete view", ErrViewNotFound)
	}
	deleted := View(row)
	return change.RecordTx(ctx, n.log, tx, eventViewDeleted, id, &deleted, nil)
}

// deleteOfTx removes the personal views of a member.
func (n views) deleteOfTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) error {
	rows, err := db.New(tx).DeleteViewsOf(ctx, db.DeleteViewsOfParams{OrgID: tx.Org, OwnerID: &user})
	for _, row := range rows {
		deleted := View(row)
		if err := change.RecordTx(ctx, n.log, tx, eventViewDeleted, deleted.ID, &deleted, nil); err != nil {
			return err
		}
	}
	return postgres.Wrap(err, "delete views of member")
}
