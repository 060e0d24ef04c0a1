package rig

import "context"

// Control is something that a proof must notice: a build without a guard or, if the
// guard is in no declaration, a flaw of the load itself.
type Control[S Subject] struct {
	Guard Guard
	// More are further places of the same guard.
	More []Guard
	// Noticed counts what the checks find. A build without the guard runs already.
	Noticed func(context.Context, S) (int, error)
}

// Guards are those that controls remove from the product.
func Guards[S Subject](controls []Control[S]) (all []Guard) {
	for _, c := range controls {
		if c.Guard.In != "" {
			all = append(append(all, c.Guard), c.More...)
		}
	}
	return all
}

// run runs a control, which must be noticed.
func (c Control[S]) run(ctx context.Context, s S, u *Unguarded) (err error) {
	if c.Guard.In != "" {
		base := s.Base()
		if base.Binary, err = u.Binary(); err != nil {
			return err
		}
		base.Removed = c.Guard.Name
		if err := s.Restart(ctx); err != nil {
			return err
		}
	}
	n, err := c.Noticed(ctx, s)
	if err != nil {
		return err
	}
	Say("control %-13s noticed %d", c.Guard.Name, n)
	if n == 0 {
		return ErrUnnoticed
	}
	return nil
}
