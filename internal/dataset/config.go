package dataset

import (
	"errors"
	"time"
)

// Config of datasets.
type Config struct {
	KeepDeleted time.Duration `setting:"keep_deleted" default:"720h" help:"Retention of a deleted dataset before it is removed permanently."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	if c.KeepDeleted < 0 {
		return errors.New("keep_deleted is negative: give a duration such as 720h, or 0 to remove at once")
	}
	return nil
}
