package change

import (
	"fmt"
	"time"
)

// Config says how long events are kept.
type Config struct {
	Keep time.Duration `setting:"keep" default:"720h" help:"Retention of events. They are deleted a week at a time, and never before every follower has read them."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	if c.Keep < 24*time.Hour {
		return fmt.Errorf("keep is %s: it must be at least 24h", c.Keep)
	}
	return nil
}
