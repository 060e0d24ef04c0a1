package runs

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// patience is how long anything may take that has to happen.
const patience = rig.Patience

// organization is one tenant with its key to the provider.
type organization struct {
	rig.Organization
	providerKey string
}

// system is one set of engines with a server and a worker on it, and what the
// worker asks.
type system struct {
	*rig.System
	options
	orgs    []*organization
	results driver.Conn
	rows    *pgxpool.Pool // as the owner, who sees all organizations
	targets *targets
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o}
	if s.System, err = rig.New(ctx, o.Binary, o.Seed); err != nil {
		return s, err
	}
	if err := s.Up(ctx, "postgres", "clickhouse", "temporal"); err != nil {
		return s, err
	}
	s.Heartbeat = o.heartbeat
	// Redis takes no part. Short chunks: a run has several of them.
	if err := s.Keyed("ASSAY_REDIS_URL=", "ASSAY_TRACE_GRPC_ADDR=", "ASSAY_EVALUATION_CHUNK_TIME=2s", "ASSAY_EVALUATION_HEARTBEAT="+o.heartbeat.String()); err != nil {
		return s, err
	}
	orgs, err := s.Prepare(ctx)
	if err != nil {
		return s, err
	}
	if err := errors.Join(s.StartServer(ctx), s.StartWorker(ctx)); err != nil {
		return s, err
	}
	return s, s.settleIn(ctx, orgs, callerWaits)
}

// settleIn starts what runs ask, connects the check to the stores and admits
// organizations.
func (s *system) settleIn(ctx context.Context, orgs []rig.Organization, waits time.Duration) (err error) {
	if s.targets, err = startTargets(ctx, waits); err != nil {
		return err
	}
	s.OnStop(s.targets.stop)
	if s.results, err = clickhouse.Connect(secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"])); err != nil {
		return err
	}
	s.OnStop(s.results.Close)
	if s.rows, err = pgxpool.New(ctx, s.Engine["ASSAY_POSTGRES_OWNER_URL"]); err != nil {
		return err
	}
	s.OnStop(func() error { s.rows.Close(); return nil })
	for _, o := range orgs {
		if err := s.admit(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// admit gives an organization a key to the simulated provider and notes it.
func (s *system) admit(ctx context.Context, tenant rig.Organization) error {
	o := &organization{Organization: tenant}
	var made api.ProviderKey
	err := s.Post(ctx, o.Organization, "/api/developer/provider-keys", "provider", map[string]any{
		"provider": "openai", "name": "simulated", "baseUrl": s.targets.models + "/v1", "secret": "only-for-proofs",
	}, &made)
	o.providerKey = strconv.FormatInt(made.ID, 10)
	s.orgs = append(s.orgs, o)
	return err
}
