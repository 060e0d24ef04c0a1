package policy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/assayhq/assay/guard"
)

// habit is how the bank treats a payment.
type habit string

// The habits. Only an honest bank does what it says.
const (
	honest  habit = "honest"
	lies    habit = "lies"    // says that it paid, and did not
	silent  habit = "silent"  // pays, and says that it failed
	slow    habit = "slow"    // pays after the caller has given up
	repeats habit = "repeats" // pays twice
	other   habit = "other"   // pays another amount
	refuses habit = "refuses" // does not pay, and says so
	crashes habit = "crashes" // pays, and the agent dies before it hears of it
)

var habits = []habit{honest, honest, lies, silent, slow, repeats, other, refuses, crashes}

// bank is a payment API that cannot be trusted.
type bank struct {
	mu    sync.Mutex
	rand  *rand.Rand
	paid  map[string][]int // the amounts that were paid, by the key of the payment
	blind map[string]bool  // payments that the bank does not want to talk about
}

func newBank(seed uint64) *bank {
	return &bank{rand: rand.New(rand.NewPCG(seed, 3)), paid: map[string][]int{}, blind: map[string]bool{}}
}

var errBank = errors.New("the bank has a problem")

// pay pays, or does not.
func (b *bank) pay(h habit, key string, amount int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch h {
	case honest:
		b.paid[key] = append(b.paid[key], amount)
		return nil
	case lies:
		return nil
	case silent:
		b.paid[key] = append(b.paid[key], amount)
		return errBank
	case slow:
		b.paid[key] = append(b.paid[key], amount)
		return context.DeadlineExceeded
	case repeats:
		b.paid[key] = append(b.paid[key], amount, amount)
		return nil
	case other:
		b.paid[key] = append(b.paid[key], amount+1)
		return nil
	case refuses:
		return fmt.Errorf("%w: %w", guard.ErrNotApplied, errBank)
	case crashes:
		b.paid[key] = append(b.paid[key], amount)
		panic(errBank)
	}
	return errBank
}

// look says what became of a payment. Of some payments it never says anything.
func (b *bank) look(key string, amount int) (guard.Finding, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	blind, asked := b.blind[key]
	if !asked {
		blind = b.rand.IntN(4) == 0
		b.blind[key] = blind
	}
	if blind {
		return "", errBank
	}
	switch paid := b.paid[key]; {
	case len(paid) == 0:
		return guard.Absent, nil
	case len(paid) == 1 && paid[0] == amount:
		return guard.Confirmed, nil
	}
	return guard.Different, nil
}
