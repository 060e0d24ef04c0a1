package evaluation

import (
	"errors"
	"fmt"
	"time"
)

// Config says how runs are executed.
type Config struct {
	Slots         int           `setting:"slots" default:"32" help:"Maximum chunks of runs that a worker executes concurrently. Further chunks wait, and organizations take turns."`
	Runs          int           `setting:"runs" default:"200" help:"Maximum runs of an organization in progress at the same time. Starting another returns 429."`
	Concurrency   int           `setting:"concurrency" default:"16" help:"Default number of items of a run in progress at the same time."`
	ChunkTime     time.Duration `setting:"chunk_time" default:"15s" help:"Approximate duration of a chunk of a run. Shorter yields to other runs sooner, longer costs Temporal less."`
	Heartbeat     time.Duration `setting:"heartbeat" default:"20s" help:"Time without a heartbeat after which another worker executes a chunk. Cancelling a run can take as long."`
	ClientTimeout time.Duration `setting:"client_timeout" default:"24h" help:"Maximum wait for the next result of a run whose results a client sends."`
	KeepDeleted   time.Duration `setting:"keep_deleted" default:"720h" help:"Retention of a deleted evaluation before it is removed permanently, with its runs, results and artifacts."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.Slots < 1 || c.Slots > 1000 {
		errs = append(errs, fmt.Errorf("slots is %d: give 1 to 1000", c.Slots))
	}
	if c.Runs < 1 {
		errs = append(errs, fmt.Errorf("runs is %d: give 1 or more", c.Runs))
	}
	if c.Concurrency < 1 || c.Concurrency > maxConcurrency {
		errs = append(errs, fmt.Errorf("concurrency is %d: give 1 to %d", c.Concurrency, maxConcurrency))
	}
	if c.ChunkTime < time.Second || c.ChunkTime > 5*time.Minute {
		errs = append(errs, fmt.Errorf("chunk_time is %s: give 1s to 5m", c.ChunkTime))
	}
	if c.Heartbeat < 2*time.Second || c.Heartbeat > 5*time.Minute {
		errs = append(errs, fmt.Errorf("heartbeat is %s: give 2s to 5m", c.Heartbeat))
	}
	if c.ClientTimeout < time.Minute {
		errs = append(errs, fmt.Errorf("client_timeout is %s: give 1m or more", c.ClientTimeout))
	}
	if c.KeepDeleted < 0 {
		errs = append(errs, errors.New("keep_deleted is negative: give a duration such as 720h, or 0 to remove at once"))
	}
	return errors.Join(errs...)
}
