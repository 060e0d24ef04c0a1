package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/assayhq/assay/internal/core/fault"
)

// ErrUnavailable is what a caller sees while PostgreSQL cannot be reached.
var ErrUnavailable = fault.New(fault.Unavailable, "database_unavailable", "The database cannot be reached right now. Retry in a moment; a write repeated with the same Idempotency-Key happens once.")

// NoRows reports whether a query that wants one row found none.
func NoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// Violates reports whether err is a violation of the named constraint.
func Violates(err error, constraint string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.ConstraintName == constraint
}

// errText is what a caller sees who sends text that PostgreSQL cannot hold.
var errText = fault.New(fault.Validation, "invalid_text", "A text contains a character that cannot be stored, such as U+0000.")

// translate marks with a fault what the caller can act on: the server is away,
// or a text cannot be stored. Every other error is returned as it is.
func translate(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "22021" || pg.Code == "22P05") {
		return fmt.Errorf("%w: %w", errText, err)
	}
	if !away(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func away(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "57P01", "57P02", "57P03", "53300": // shut down, crashed, starting, too many connections
			return true
		}
		return pg.Code[:2] == "08"
	}
	if errors.Is(err, ErrUnsafeRole) {
		return false // waiting does not mend it
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return true
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return false // our own patience ended; the server may be well
	}
	var network net.Error
	return errors.As(err, &network) ||
		errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err) ||
		connClosed(err)
}

// connClosed recognises a use of a connection that broke earlier; the driver
// has no exported error for it.
func connClosed(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if err.Error() == "conn closed" {
			return true
		}
	}
	return false
}
