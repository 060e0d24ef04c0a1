// Package resource has what the operations on most nouns share: how a page of them is cut, and
// how one is found, created, changed and deleted. Handlers stay methods of their area and say
// what is theirs: which rule is called, and how a resource is shown.
package resource

import (
	"context"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Noun is what a kind of resource that counts its changes has of its own.
type Noun[T change.Versioned, B httpapi.Resource] struct {
	Routes Routes
	Log    *change.Log
	// Missing is the answer to an id that can be that of no resource.
	Missing *fault.Error
	// Cursor, ID and Show are those of a List.
	Cursor httpapi.IDCursor
	ID     func(T) int64
	Show   Show[T, B]
}

// Page answers with a page of resources, as a List does.
func (n Noun[T, B]) Page(ctx context.Context, in httpapi.CursorPage, find func(postgres.Page) ([]T, int64, error)) ([]B, httpapi.CursorPaging, error) {
	return List[T, B]{Cursor: n.Cursor, ID: n.ID, Show: n.Show}.Page(ctx, in, find)
}

// Get answers with the resource that find finds.
func (n Noun[T, B]) Get(ctx context.Context, id string, find func(context.Context, principal.OrgID, int64) (T, error)) (*httpapi.Output[B], error) {
	number, err := httpapi.Number(id, n.Missing)
	if err != nil {
		return nil, err
	}
	found, err := find(ctx, principal.From(ctx).Org, number)
	if err != nil {
		return nil, err
	}
	return n.Answer(ctx, nil, found)
}

// Create makes a resource in a transaction of its own.
func (n Noun[T, B]) Create(ctx context.Context, create func(postgres.Tx) (T, error)) (*httpapi.Made[B], error) {
	return change.Do(ctx, n.Log, func(tx postgres.Tx) (*httpapi.Made[B], error) {
		made, err := create(tx)
		if err != nil {
			return nil, err
		}
		out, err := n.Answer(ctx, &tx, made)
		if err != nil {
			return nil, err
		}
		return &httpapi.Made[B]{ETag: out.ETag, Location: n.Routes.At(n.ID(made)), Body: out.Body}, nil
	})
}

// Target is the resource that an update means, and the version that it has to have; zero is any.
func (n Noun[T, B]) Target(id string, m httpapi.IfMatch, inBody int64) (number, expected int64, err error) {
	if number, err = httpapi.Number(id, n.Missing); err != nil {
		return 0, 0, err
	}
	expected, err = m.Expected(inBody)
	return number, expected, err
}

// Change changes a resource in a transaction of its own.
func (n Noun[T, B]) Change(ctx context.Context, update func(postgres.Tx) (T, error)) (*httpapi.Output[B], error) {
	return change.Do(ctx, n.Log, func(tx postgres.Tx) (*httpapi.Output[B], error) {
		changed, err := update(tx)
		if err != nil {
			return nil, err
		}
		return n.Answer(ctx, &tx, changed)
	})
}

// Update changes the resource with the id as the caller has edited it, in a transaction of its own.
func (n Noun[T, B]) Update(ctx context.Context, id string, m httpapi.IfMatch, inBody int64, edit func(*T), update Update[T]) (*httpapi.Output[B], error) {
	number, expected, err := n.Target(id, m, inBody)
	if err != nil {
		return nil, err
	}
	return n.Change(ctx, func(tx postgres.Tx) (T, error) { return update(ctx, tx, number, expected, edit) })
}

// Update is a rule that changes a resource of the version that is expected; zero is any.
type Update[T any] func(ctx context.Context, tx postgres.Tx, id, expected int64, edit func(*T)) (T, error)

// Delete removes the resource with the id, in a transaction of its own.
func (n Noun[T, B]) Delete(ctx context.Context, id string, remove func(context.Context, postgres.Tx, int64) error) (*httpapi.DeletedOutput[string], error) {
	number, err := httpapi.Number(id, n.Missing)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, n.Log, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		return httpapi.NewDeleted(id), remove(ctx, tx, number)
	})
}

// Answer shows one resource; what was changed, in the transaction of the change.
func (n Noun[T, B]) Answer(ctx context.Context, tx *postgres.Tx, one T) (*httpapi.Output[B], error) {
	bodies, err := n.Show(ctx, tx, []T{one})
	if err != nil {
		return nil, err
	}
	return &httpapi.Output[B]{ETag: httpapi.ETag(one.Revision()), Body: bodies[0]}, nil
}
