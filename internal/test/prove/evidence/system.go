package evidence

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// system is one set of engines with a server on it.
type system struct {
	*rig.System
	options
	stream driver.Conn // to the tables of the stream, past the server
	loads  int         // so far, for their names
	// sound is the load that was found to be in order, and found what is stored of it.
	sound *load
	found []stored
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o}
	if s.System, err = rig.New(ctx, o.Binary, o.Seed); err != nil {
		return s, err
	}
	if err := s.Up(ctx, "postgres", "clickhouse", "temporal"); err != nil {
		return s, err
	}
	s.Env = append(s.Env, "ASSAY_REDIS_URL=", "ASSAY_TRACE_GRPC_ADDR=") // they take no part
	if err := s.open(); err != nil {
		return s, err
	}
	if _, err := s.Prepare(ctx); err != nil {
		return s, err
	}
	return s, s.StartServer(ctx)
}

// open connects the check to the tables.
func (s *system) open() (err error) {
	s.stream, err = clickhouse.Connect(secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"]))
	if err == nil {
		s.OnStop(s.stream.Close)
	}
	return err
}

// organizations makes some that have no evidence yet, so that everything in them is of
// one load.
func (s *system) organizations(ctx context.Context, n int) (all []rig.Organization, err error) {
	s.loads++
	for i := range n {
		o, err := s.Bootstrap(ctx, fmt.Sprintf("Load %d %d", s.loads, i))
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}
