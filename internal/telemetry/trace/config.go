package trace

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Config says how telemetry is taken and kept.
type Config struct {
	RetentionDays int           `setting:"retention_days" default:"90" help:"Retention of traces in days unless the organization sets its own: 7, 30, 90, 400 or 3650."`
	GroupInterval time.Duration `setting:"group_interval" default:"200ms" help:"Minimum time between two small writes to ClickHouse. Longer creates fewer parts, shorter gives faster responses."`
	InsertTimeout time.Duration `setting:"insert_timeout" default:"6s" help:"Maximum duration of a write to ClickHouse before its data goes to object storage. Must be below the senders' timeout, usually 10 seconds."`
	GRPCAddr      string        `setting:"grpc_addr" default:":4317" help:"Address of the OTLP/gRPC listener; empty disables it."`

	// Announce is how long telemetry waits until it is published that it arrives, if not as
	// long as in the product: a test cannot be sure of a second.
	Announce time.Duration
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if !slices.Contains(retentionClasses[:], uint16(c.RetentionDays)) {
		errs = append(errs, fmt.Errorf("retention_days is %d: use 7, 30, 90, 400 or 3650", c.RetentionDays))
	}
	if c.GroupInterval < 0 || c.GroupInterval > 5*time.Second {
		errs = append(errs, fmt.Errorf("group_interval is %s: give 0s to 5s", c.GroupInterval))
	}
	if c.InsertTimeout <= 0 || c.InsertTimeout > 25*time.Second {
		errs = append(errs, fmt.Errorf("insert_timeout is %s: give up to 25s", c.InsertTimeout))
	}
	return errors.Join(errs...)
}

// retentionClasses are the times that traces can be kept. There are few, so
// that a whole part of a table ends on one day and is dropped, not rewritten.
var retentionClasses = [...]uint16{7, 30, 90, 400, 3650}

// retentionClass is the shortest class that keeps for at least the days.
func retentionClass(days int) uint16 {
	for _, c := range retentionClasses {
		if days <= int(c) {
			return c
		}
	}
	return retentionClasses[len(retentionClasses)-1]
}
