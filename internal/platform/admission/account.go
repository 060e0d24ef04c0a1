package admission

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

// Account is what one request or one activity draws from the budget, in the name
// of its organization. It is safe for concurrent use.
type Account struct {
	budget   *Budget
	org      principal.OrgID
	patience time.Duration // zero waits as long as its context lasts
	taken    atomic.Int64
}

// Request opens the account of a request, whose caller waits for the answer. A
// nil budget bounds nothing.
func (b *Budget) Request(org principal.OrgID) *Account {
	return &Account{budget: b, org: org, patience: patience}
}

// Activity opens the account of an activity, which nobody waits for.
func (b *Budget) Activity(org principal.OrgID) *Account {
	return &Account{budget: b, org: org}
}

// Part opens another account of the same organization, for a part of what the
// request or activity does that gives back what it took before the rest ends.
func (a *Account) Part() *Account {
	return &Account{budget: a.budget, org: a.org, patience: a.patience}
}

// Close gives back all bytes.
func (a *Account) Close() {
	if a.budget != nil {
		a.budget.give(a.org, int(a.taken.Swap(0)))
	}
}

// Take asks for n more bytes. Its error is a fault for the caller: ErrShare or
// ErrFull.
func (a *Account) Take(n int) error {
	if a.budget == nil {
		return nil
	}
	if err := a.budget.take(a.org, n); err != nil {
		return err
	}
	a.taken.Add(int64(n))
	return nil
}

// Wait asks for n more bytes and waits until they are there; a request waits no
// longer than its caller would.
func (a *Account) Wait(ctx context.Context, n int) error {
	if a.budget == nil {
		return nil
	}
	if err := a.budget.wait(ctx, a.org, n, a.patience); err != nil {
		return err
	}
	a.taken.Add(int64(n))
	return nil
}

// Read runs a read whose size is known when it has ended. It begins when there is
// room for the most that it usually brings; the account keeps what it brought.
func (a *Account) Read(ctx context.Context, most int, read func() (brought int, err error)) error {
	if err := a.Wait(ctx, most); err != nil {
		return err
	}
	brought, err := read()
	if err != nil || brought <= most {
		a.Give(most - brought)
		return err
	}
	return a.Take(brought - most)
}

// Give returns n bytes before the account is closed.
func (a *Account) Give(n int) {
	if a.budget == nil {
		return
	}
	a.taken.Add(int64(-n))
	a.budget.give(a.org, n)
}

// Work runs a task that keeps a processor busy, when its turn has come. The task
// calls pause between its steps, which should take milliseconds: another
// organization that waits is then let in first. An error of pause ends the task.
// What waits for something else, such as a database or a lock, is not part of a
// task: a task that is paused would keep others waiting for its lock.
func (a *Account) Work(ctx context.Context, task func(pause func() error) error) error {
	if a.budget == nil {
		return task(ctx.Err)
	}
	turns := a.budget.turns
	if err := turns.begin(ctx, a.org, a.patience); err != nil {
		return err
	}
	began, holds := time.Now(), true
	defer func() {
		if holds {
			turns.End(a.org, time.Since(began))
		}
	}()
	return task(func() error {
		if !holds {
			return errNoTurn
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		now := time.Now()
		took := now.Sub(began)
		if began = now; !turns.yield(a.org, took) {
			return nil
		}
		holds = false
		if err := turns.begin(ctx, a.org, a.patience); err != nil {
			return err
		}
		began, holds = time.Now(), true
		return nil
	})
}

// errNoTurn is returned to a task that goes on although it has lost its turn.
var errNoTurn = errors.New("the task was refused its turn and must end")

type accountKey struct{}

// With returns a context that carries the account.
func With(ctx context.Context, a *Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// From returns the account of the request or activity. Work that no tenant
// causes has one that bounds nothing.
func From(ctx context.Context) *Account {
	if a, ok := ctx.Value(accountKey{}).(*Account); ok {
		return a
	}
	return &unbounded
}

var unbounded Account
