// Package change is how state changes: one transaction that holds the effect,
// the answer remembered for a repetition, and the work that the effect
// promises. They commit together or not at all.
package change

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/change/internal/db"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Remembered is how long a key's answer is kept.
const Remembered = 24 * time.Hour

// ErrKeyReused is returned when a key comes back with other content.
var ErrKeyReused = fault.New(fault.Conflict, "idempotency_key_reused", "This Idempotency-Key was used for a request with other content. Use a new key for a new request.")

// ErrInProgress is returned while a request with the same key is running.
var ErrInProgress = fault.New(fault.Conflict, "idempotency_in_progress", "A request with this Idempotency-Key is still running. Repeat it in a moment.").With("retryAfterSeconds", 1)

// Log makes changes in one database.
type Log struct {
	db  *postgres.DB
	now func() time.Time

	bell bell
}

// New makes a log of changes.
func New(pg *postgres.DB, now func() time.Time) *Log {
	return &Log{db: pg, now: now}
}

// Do runs one change of the caller's organization and returns its output.
//
// If the request carries an Idempotency-Key that was used within a day for the
// same content, nothing is changed and the first output, or the first refusal,
// is returned. T is an operation's output and must survive a round trip
// through JSON. An output that does not hold for a day is returned again only
// if still accepts it; otherwise the error of still is, and nothing remembers it.
func Do[T any](ctx context.Context, l *Log, fn func(postgres.Tx) (*T, error), still ...func(postgres.Tx, *T) error) (*T, error) {
	org := principal.From(ctx).Org
	key := keyOf(request.From(ctx))
	var out *T
	var replayed bool
	err := postgres.InTx(ctx, l.db, org, func(tx postgres.Tx) error {
		if key.Key != "" {
			stored, err := l.recall(ctx, tx, key)
			if err != nil {
				return err
			}
			if stored != nil {
				replayed = true
				out, err = replay[T](stored)
				for i := 0; err == nil && i < len(still); i++ {
					err = still[i](tx, out)
				}
				return err
			}
		}
		var err error
		if out, err = fn(tx); err != nil {
			return err
		}
		return l.remember(ctx, tx, key, out)
	})
	if replayed {
		request.From(ctx).Header.Set("Idempotent-Replayed", "true")
	}
	if err != nil {
		if !replayed {
			l.rememberFault(ctx, org, key, err)
		}
		return nil, err
	}
	return out, nil
}

// SecretOutput is an output that shows a secret once: what is remembered for a
// repetition is the copy without it.
type SecretOutput interface{ WithoutSecrets() any }

// key is what a repetition is recognised by.
type key struct {
	Method, Path, Key string
	Fingerprint       []byte
}

func keyOf(r *request.Info) key {
	return key{Method: r.Method, Path: r.Path, Key: r.IdempotencyKey, Fingerprint: r.Fingerprint}
}

// recall locks the key for this transaction and returns what is stored under
// it, or nil if the request is the first.
func (l *Log) recall(ctx context.Context, tx postgres.Tx, k key) (*db.FindKeyRow, error) {
	var locked, found bool
	var row db.FindKeyRow
	err := tx.Together(ctx, func(q postgres.Querier) (err error) {
		locked, err = db.New(q).LockKey(ctx, db.LockKeyParams{OrgID: tx.Org.String(), Method: k.Method, Path: k.Path, Key: k.Key})
		return err
	}, func(q postgres.Querier) (err error) {
		row, err = db.New(q).FindKey(ctx, db.FindKeyParams{OrgID: tx.Org, Method: k.Method, Path: k.Path, Key: k.Key})
		if postgres.NoRows(err) {
			return nil
		}
		found = err == nil
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("find idempotency key: %w", err)
	case !locked:
		return nil, ErrInProgress
	case !found:
		return nil, nil
	}
	if l.now().Sub(row.CreatedAt) >= Remembered {
		return nil, db.New(tx.Later()).ForgetKey(ctx, db.ForgetKeyParams{OrgID: tx.Org, Method: k.Method, Path: k.Path, Key: k.Key})
	}
	if !bytes.Equal(row.Fingerprint, k.Fingerprint) {
		return nil, ErrKeyReused
	}
	return &row, nil
}

func replay[T any](row *db.FindKeyRow) (*T, error) {
	if row.Fault != nil {
		var f fault.Error
		if err := json.Unmarshal(row.Fault, &f); err != nil {
			return nil, fmt.Errorf("read remembered fault: %w", err)
		}
		return nil, &f
	}
	out := new(T)
	if err := json.Unmarshal(row.Output, out); err != nil {
		return nil, fmt.Errorf("read remembered output: %w", err)
	}
	return out, nil
}

func (l *Log) remember(ctx context.Context, tx postgres.Tx, k key, output any) error {
	if k.Key == "" {
		return nil
	}
	if s, ok := output.(SecretOutput); ok {
		output = s.WithoutSecrets()
	}
	encoded, err := json.Marshal(output)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return l.store(ctx, tx, k, encoded, nil)
}

// rememberFault keeps a refusal, so that a repetition is refused alike. There
// is no effect that it could disagree with. What may pass by itself (a limit,
// an outage, a bug) is not kept.
func (l *Log) rememberFault(ctx context.Context, org principal.OrgID, k key, err error) {
	f, ok := fault.From(err)
	if k.Key == "" || !ok || f.Reason == ErrKeyReused.Reason || f.Reason == ErrInProgress.Reason {
		return
	}
	switch f.Kind {
	case fault.Validation, fault.Forbidden, fault.NotFound, fault.Conflict:
	default:
		return
	}
	encoded, err := json.Marshal(f)
	if err != nil {
		return
	}
	// A refusal that cannot be kept is only refused again by the rule itself.
	_ = postgres.InTx(ctx, l.db, org, func(tx postgres.Tx) error {
		stored, err := l.recall(ctx, tx, k)
		if err != nil || stored != nil {
			return err
		}
		return l.store(ctx, tx, k, nil, encoded)
	})
}

func (l *Log) store(ctx context.Context, tx postgres.Tx, k key, output, refusal []byte) error {
	err := db.New(tx.Later()).RememberKey(ctx, db.RememberKeyParams{
		OrgID: tx.Org, Method: k.Method, Path: k.Path, Key: k.Key, Fingerprint: k.Fingerprint,
		Output: output, Fault: refusal, CreatedAt: l.now(),
	})
	if err != nil {
		return fmt.Errorf("remember idempotency key: %w", err)
	}
	return nil
}

// Remember keeps the output of a change that another store holds already, for a repetition of
// the request, and returns it. The change is made, whether or not that can be done.
func Remember[T any](ctx context.Context, l *Log, out *T) *T {
	key := keyOf(request.From(ctx))
	if key.Key == "" {
		return out
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rememberTime)
	defer cancel()
	_ = postgres.InTx(ctx, l.db, principal.From(ctx).Org, func(tx postgres.Tx) error {
		stored, err := l.recall(ctx, tx, key)
		if err != nil || stored != nil {
			return err
		}
		return l.remember(ctx, tx, key, out)
	})
	return out
}

// rememberTime bounds how long a caller waits for what it does not need.
const rememberTime = 5 * time.Second

// Recall returns the output of an earlier request with the same Idempotency-Key, or
// its refusal, and nil if the request is the first one. It is for work that costs
// something before the change is made; Do recalls by itself. Two requests at the same
// time may both be the first.
func Recall[T any](ctx context.Context, l *Log) (out *T, err error) {
	key := keyOf(request.From(ctx))
	if key.Key == "" {
		return nil, nil
	}
	replayed := false
	err = postgres.InTx(ctx, l.db, principal.From(ctx).Org, func(tx postgres.Tx) error {
		stored, err := l.recall(ctx, tx, key)
		if err != nil || stored == nil {
			return err
		}
		replayed = true
		out, err = replay[T](stored)
		return err
	})
	if replayed {
		request.From(ctx).Header.Set("Idempotent-Replayed", "true")
	}
	return out, err
}
