package tenancy

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
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

// View is a named filter over a list, of the organization or of one person.
type View struct {
	ID int64
	// Owner is the only person who sees it; nil if the organization does.
	Owner *uuid.UUID
	Name  string
	// List names what is filtered, Filters the values of its query parameters.
	List      string
	Filters   map[string][]string
	CreatedBy principal.Actor
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ViewFilter selects views; the zero filter selects all that a person sees.
type ViewFilter struct {
	Lists []string
	postgres.Page
}

// Views returns a page of the organization's views and of the caller's own, with
// one view more than the limit if there is a next page.
func (s *Service) Views(ctx context.Context, org principal.OrgID, f ViewFilter) ([]View, int64, error) {
	return s.store.views(ctx, org, principal.From(ctx).User, f)
}

// CreateViewTx saves a view, unless the organization has too many. A personal one
// needs a person, who is still a member. Views of one organization are created
// one after the other, and not while a member is removed, so both hold.
func (s *Service) CreateViewTx(ctx context.Context, tx postgres.Tx, v View, personal bool) (View, error) {
	n, err := s.store.lockViewsTx(ctx, tx)
	if err != nil {
		return View{}, err
	}
	if personal {
		user, err := person(ctx)
		if err != nil {
			return View{}, err
		}
		if _, err := s.store.member(ctx, tx, tx.Org, user); err != nil {
			return View{}, err
		}
		v.Owner = &user
	}
	if n >= maxViews {
		return View{}, ErrTooManyViews
	}
	at := s.now()
	v.CreatedBy, v.Version, v.CreatedAt, v.UpdatedAt = principal.ActorOf(ctx), 1, at, at
	if v.ID, err = s.store.insertViewTx(ctx, tx, v); err != nil {
		return View{}, err
	}
	return v, change.RecordTx(ctx, s.log, tx, eventViewCreated, v.ID, nil, &v)
}

// View returns one view, if the caller may see it.
func (s *Service) View(ctx context.Context, org principal.OrgID, id int64) (View, error) {
	return s.store.view(ctx, org, principal.From(ctx).User, id)
}

// UpdateViewTx changes a view's name and filters. A nonzero expected version
// must be the current one.
func (s *Service) UpdateViewTx(ctx context.Context, tx postgres.Tx, id, expected int64, edit func(*View)) (View, error) {
	return change.Update(change.Edit[View]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock:  func() (View, error) { return s.store.lockViewTx(ctx, tx, principal.From(ctx).User, id) },
		Apply: func(v *View) error { edit(v); return nil },
		Save: func(before View, after *View) error {
			after.Version, after.UpdatedAt = before.Version+1, s.now()
			return s.store.updateViewTx(ctx, tx, *after)
		},
		Audit: func(before, after View) error {
			return change.RecordTx(ctx, s.log, tx, eventViewUpdated, id, &before, &after)
		},
	})
}

// DeleteViewTx removes a view.
func (s *Service) DeleteViewTx(ctx context.Context, tx postgres.Tx, id int64) error {
	v, err := s.store.lockViewTx(ctx, tx, principal.From(ctx).User, id)
	if err != nil {
		return err
	}
	if err := s.store.deleteViewTx(ctx, tx, id); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, eventViewDeleted, id, &v, nil)
}

// deleteViewsOfTx removes the personal views of a member.
func (s *Service) deleteViewsOfTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) error {
	views, err := s.store.deleteViewsOfTx(ctx, tx, user)
	if err != nil {
		return err
	}
	for _, v := range views {
		if err := change.RecordTx(ctx, s.log, tx, eventViewDeleted, v.ID, &v, nil); err != nil {
			return err
		}
	}
	return nil
}
