package httpapi

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
)

// Account is what one request draws from the budget of its process, in the name
// of its organization.
type Account interface {
	// Take asks for n more bytes of memory. Its error refuses the request.
	Take(n int) error
	// Work runs a task that keeps a processor busy, when its turn has come. The
	// task calls pause between its steps.
	Work(ctx context.Context, task func(pause func() error) error) error
	// Close gives everything back.
	Close()
}

// Admitter opens the account of a request of an organization. The context that
// it returns carries the account to the handler.
type Admitter func(ctx context.Context, org principal.OrgID) (context.Context, Account)

type accountKey struct{}

// Admit opens the account of a request of a recognised caller, before its body
// is read. The function that it returns closes it, when the answer is written.
func (e *Edge) Admit(ctx context.Context) (admitted context.Context, done func()) {
	if e.opts.Admit == nil {
		return ctx, func() {}
	}
	ctx, account := e.opts.Admit(ctx, principal.From(ctx).Org)
	return context.WithValue(ctx, accountKey{}, account), account.Close
}

// Admitted returns the account of a request.
func Admitted(ctx context.Context) Account {
	if a, ok := ctx.Value(accountKey{}).(Account); ok {
		return a
	}
	return unbounded{}
}

// unbounded is the account of a request where nothing is bounded.
type unbounded struct{}

func (unbounded) Take(int) error { return nil }
func (unbounded) Close()         {}
func (unbounded) Work(ctx context.Context, task func(pause func() error) error) error {
	return task(ctx.Err)
}
