package rule

import (
	"errors"
	"fmt"
	"time"
)

// Config says how rules are executed.
type Config struct {
	Poll   time.Duration `setting:"poll" default:"15s" help:"Time between two looks of an active rule for new traces."`
	Settle time.Duration `setting:"settle" default:"2m" help:"Time that a trace must have been quiet before a rule has it judged. Must exceed the longest write of telemetry, about 90s with the default settings, or traces can be missed."`
	Slots  int           `setting:"slots" default:"16" help:"Maximum rules and back-fills for which a worker asks judges concurrently. Organizations take turns."`
	Width  int           `setting:"width" default:"8" help:"Maximum traces of a rule or back-fill that are judged concurrently."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.Poll < 100*time.Millisecond || c.Poll > time.Hour {
		errs = append(errs, fmt.Errorf("poll is %s: give 100ms to 1h", c.Poll))
	}
	if c.Settle < 0 || c.Settle > 20*time.Minute {
		errs = append(errs, fmt.Errorf("settle is %s: give 0s to 20m", c.Settle))
	}
	if c.Slots < 1 || c.Slots > 1000 {
		errs = append(errs, fmt.Errorf("slots is %d: give 1 to 1000", c.Slots))
	}
	if c.Width < 1 || c.Width > 64 {
		errs = append(errs, fmt.Errorf("width is %d: give 1 to 64", c.Width))
	}
	return errors.Join(errs...)
}
