package evidence

import (
	"errors"
	"fmt"
	"time"
)

// Config of evidence.
type Config struct {
	RetentionDays int           `setting:"retention_days" default:"400" help:"Retention of events, steps, calls of tools and explanations, in days. At least 183: laws ask for six months."`
	Poll          time.Duration `setting:"poll" default:"15s" help:"Time between two looks for new spans that evidence is made of."`
	Settle        time.Duration `setting:"settle" default:"2m" help:"Time that a trace must have been quiet before evidence is made of its spans. Must exceed the longest write of telemetry, about 90s with the default settings, or spans can be missed."`
}

// minRetention is six months.
const minRetention = 183

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.RetentionDays < minRetention || c.RetentionDays > 3650 {
		errs = append(errs, fmt.Errorf("retention_days is %d: give a number from %d to 3650", c.RetentionDays, minRetention))
	}
	if c.Poll < 100*time.Millisecond || c.Poll > time.Hour {
		errs = append(errs, fmt.Errorf("poll is %s: give 100ms to 1h", c.Poll))
	}
	if c.Settle < 0 || c.Settle > 20*time.Minute {
		errs = append(errs, fmt.Errorf("settle is %s: give 0s to 20m", c.Settle))
	}
	return errors.Join(errs...)
}
