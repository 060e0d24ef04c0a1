package evidence

import "fmt"

// Config of evidence.
type Config struct {
	RetentionDays int `setting:"retention_days" default:"400" help:"Retention of events, steps, calls of tools and explanations, in days. At least 183: laws ask for six months."`
}

// minRetention is six months.
const minRetention = 183

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	if c.RetentionDays < minRetention || c.RetentionDays > 3650 {
		return fmt.Errorf("retention_days is %d: give a number from %d to 3650", c.RetentionDays, minRetention)
	}
	return nil
}
