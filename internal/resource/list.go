package resource

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// List is how resources are listed, newest first, and shown.
type List[T, B any] struct {
	Cursor httpapi.IDCursor
	ID     func(T) int64
	Show   Show[T, B]
}

// Show is how resources are shown: all of a page at once, so that what they need is read once.
// What is shown of a change is read in its transaction; otherwise there is none.
type Show[T, B any] func(ctx context.Context, tx *postgres.Tx, all []T) ([]B, error)

// Page answers with the page that find finds, with one entry too many if there is a next one.
func (l List[T, B]) Page(ctx context.Context, in httpapi.CursorPage, find func(postgres.Page) ([]T, int64, error)) ([]B, httpapi.CursorPaging, error) {
	below, err := l.Cursor.Below(in.Cursor)
	if err != nil {
		return nil, httpapi.CursorPaging{}, err
	}
	found, total, err := find(postgres.Page{Below: below, Limit: in.Limit, Offset: in.Offset, Count: in.IncludeTotal})
	if err != nil {
		return nil, httpapi.CursorPaging{}, err
	}
	found, paging := httpapi.Cut(in, found, total, func(last T) string { return l.Cursor.Text(l.ID(last)) })
	bodies, err := l.Show(ctx, nil, found)
	return bodies, paging, err
}

// Each shows every resource by itself.
func Each[T, B any](show func(T) B) Show[T, B] {
	return func(_ context.Context, _ *postgres.Tx, all []T) ([]B, error) {
		bodies := make([]B, len(all))
		for i, one := range all {
			bodies[i] = show(one)
		}
		return bodies, nil
	}
}

// Names knows what actors are called.
type Names interface {
	Actors(context.Context, principal.OrgID, ...principal.Actor) ([]httpapi.Actor, error)
	ActorsTx(context.Context, postgres.Tx, ...principal.Actor) ([]httpapi.Actor, error)
}

// By shows every resource with the name of an actor, such as who made it.
func By[T, B any](names Names, actor func(T) principal.Actor, show func(T, httpapi.Actor) B) Show[T, B] {
	return func(ctx context.Context, tx *postgres.Tx, all []T) ([]B, error) {
		actors := make([]principal.Actor, len(all))
		for i, one := range all {
			actors[i] = actor(one)
		}
		named, err := actorsIn(ctx, tx, names, actors)
		if err != nil {
			return nil, err
		}
		bodies := make([]B, len(all))
		for i, one := range all {
			bodies[i] = show(one, named[i])
		}
		return bodies, nil
	}
}

func actorsIn(ctx context.Context, tx *postgres.Tx, names Names, actors []principal.Actor) ([]httpapi.Actor, error) {
	if tx != nil {
		return names.ActorsTx(ctx, *tx, actors...)
	}
	return names.Actors(ctx, principal.From(ctx).Org, actors...)
}
