package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// await asks again and again until check is satisfied. It gives up when the
// limit passes or when the process behind the engine ends, and says what it is
// waiting for while it waits.
func (c *Checkout) await(ctx context.Context, engine, what string, limit time.Duration, ended <-chan error, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	started := time.Now()
	spoke := started
	for {
		attempt, done := context.WithTimeout(ctx, 3*time.Second)
		err := check(attempt)
		done()
		if err == nil {
			return nil
		}
		if time.Since(spoke) > 3*time.Second {
			spoke = time.Now()
			c.say(engine, "waiting for %s (%d s)", what, int(time.Since(started).Seconds()))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("still waiting for %s after %s: %w", what, limit, err)
		case exit := <-ended:
			return fmt.Errorf("its process ended by itself (%s)", reason(exit))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func reason(exit error) string {
	if exit == nil {
		return "exit status 0"
	}
	return exit.Error()
}

// LogTail gives the last lines of the engine's log.
func (c *Checkout) LogTail(engine string, lines int) []string {
	file, err := os.Open(c.LogPath(engine))
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	// The end of the file is enough: logs may be large.
	const window = 64 << 10
	if info, err := file.Stat(); err == nil && info.Size() > window {
		if _, err := file.Seek(-window, io.SeekEnd); err != nil {
			return nil
		}
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	all := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return all[max(0, len(all)-lines):]
}
