package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/assayhq/assay/internal/core/fault"
)

// The faults of this package never say which address was dialled, which name
// server was asked or what answered: their words reach tenants, and those facts
// would draw a map of the network that the workers stand in. The log has them.
var (
	// ErrForbidden is returned for a destination that the rules refuse. A name
	// that does not exist gets the same answer as one that leads inside, so a
	// tenant cannot learn which internal names exist.
	ErrForbidden = forbidden("The destination does not lead to a public address over https. Use a public https URL, or ask the operator of this deployment to add the destination to ASSAY_EGRESS_ALLOW.")

	// ErrRedirected is returned when the destination redirects in a way that is
	// not followed.
	ErrRedirected = fault.New(fault.Validation, "redirect_not_allowed", "The destination redirects too often, from https to http, or to another host with the body of the request. Use the final URL.")

	// ErrTooLarge is returned when the answer is larger than the limit, after
	// decompression.
	ErrTooLarge = fault.New(fault.Validation, "response_too_large", "The destination's answer is larger than the limit. Make it answer with less.")

	// ErrUnreachable is returned when an allowed destination does not answer.
	// The detail "cause" is dns, connect, tls, timeout, read or protocol.
	ErrUnreachable = fault.New(fault.Unavailable, "destination_unreachable", "The destination did not answer. Check that it is up and that its certificate is valid, then try again.")
)

func forbidden(message string) *fault.Error {
	return fault.New(fault.Validation, "destination_not_allowed", message)
}

// conceal turns the error of a dial or an exchange into words that may leave
// the process, and logs what the operator needs to find the cause.
func conceal(ctx context.Context, host string, err error) error {
	if errors.Is(err, ErrForbidden) {
		return ErrForbidden // control has logged the address
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		slog.InfoContext(ctx, "outbound name does not exist", "host", host)
		return ErrForbidden
	}
	why := cause(err)
	detail := err.Error()
	if why == "protocol" {
		detail = "not logged: it may quote the answer"
	}
	slog.InfoContext(ctx, "outbound request failed", "host", host, "cause", why, "error", detail)
	out := ErrUnreachable.With("cause", why)
	if done := ctx.Err(); done != nil {
		return fmt.Errorf("%w: %w", out, done)
	}
	return out
}

// cause names the step that failed, from a closed list of words.
func cause(err error) string {
	var (
		dns     *net.DNSError
		op      *net.OpError
		timeout interface{ Timeout() bool }
		cert    *tls.CertificateVerificationError
		alert   tls.AlertError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &dns):
		return "dns"
	case errors.As(err, &cert), errors.As(err, &alert), errors.As(err, &record):
		return "tls"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.As(err, &op) && op.Op == "dial":
		return "connect"
	case errors.As(err, &op):
		return "read"
	}
	return "protocol"
}
