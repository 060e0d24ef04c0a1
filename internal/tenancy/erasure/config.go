package erasure

import (
	"errors"
	"fmt"
	"time"
)

// Config says how patiently data is erased.
type Config struct {
	Settle        time.Duration `setting:"settle" default:"3m" help:"Pause between two looks for data of a deleted organization. Its certificate is complete when a look finds nothing. Must be longer than a request and a write of telemetry can take."`
	PurgeInterval time.Duration `setting:"purge_interval" default:"1h" help:"Time between two rounds that remove deleted rows from the disks of ClickHouse. A round rewrites the parts that hold such rows, once for all deletions since the last."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.Settle < time.Second {
		errs = append(errs, fmt.Errorf("settle is %s: give 1s or more, and 3m where clients send telemetry", c.Settle))
	}
	if c.PurgeInterval < time.Second {
		errs = append(errs, fmt.Errorf("purge_interval is %s: give 1s or more, for example 1h", c.PurgeInterval))
	}
	return errors.Join(errs...)
}
