// Package redis is the optional shared memory of several replicas. One replica
// needs none.
package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/assayhq/assay/internal/platform/secret"
)

// Config says how to reach Redis.
type Config struct {
	URL secret.Text `setting:"url" help:"Connection URL, such as redis://HOST:6379/0. Leave empty if there is only one replica."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	if c.URL == "" {
		return nil
	}
	if _, err := redis.ParseURL(c.URL.Reveal()); err != nil {
		return errors.New("url cannot be read: it should look like redis://HOST:6379/0")
	}
	return nil
}

// logger writes what the library has to say as all other lines are written.
type logger struct{}

func (logger) Printf(ctx context.Context, format string, args ...any) {
	slog.WarnContext(ctx, "redis", "error", fmt.Sprintf(format, args...))
}

func init() { redis.SetLogger(logger{}) }

// Client is a pool of connections.
type Client struct{ *redis.Client }

// Open prepares the pool, or returns nil if no URL is configured. It does not
// wait for the server.
func Open(cfg Config) (*Client, error) {
	if cfg.URL == "" {
		return nil, nil
	}
	opts, err := redis.ParseURL(cfg.URL.Reveal())
	if err != nil {
		return nil, errors.New("redis url cannot be read")
	}
	return &Client{redis.NewClient(opts)}, nil
}

// Ping reports whether the server answers.
func (c *Client) Ping(ctx context.Context) error { return c.Client.Ping(ctx).Err() }
