package ingest

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// inflightLimit is what the application may hold of what it was sent: the least
// that can be set, so that the flood fills it at once.
const inflightLimit = 64 << 20

// patience is how long anything may take that has to happen.
const patience = rig.Patience

// system is one set of engines with one application on it, and the proxies
// between them.
type system struct {
	*rig.System
	fixed   []string // environment of the application that never changes
	store   *store   // object storage at present
	stores  map[string]*store
	orgs    []rig.Organization // their senders share every block
	direct  driver.Conn        // past the proxy
	net     *toxiproxy
	client  *http.Client
	volumes []*volume
}

func newSystem(base *rig.System) *system {
	return &system{System: base, stores: map[string]*store{}, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true},
	}}
}

func start(ctx context.Context, o rig.Options) (*system, error) {
	base, err := rig.New(ctx, o.Binary, o.Seed)
	s := newSystem(base)
	if err != nil {
		return s, err
	}
	if err := s.startEngines(ctx); err != nil {
		return s, err
	}
	if err := s.open(); err != nil {
		return s, err
	}
	if s.net, err = s.startToxiproxy(ctx); err != nil {
		return s, err
	}
	if err := s.proxyClickHouse(ctx); err != nil {
		return s, err
	}
	if err := s.startStores(ctx); err != nil {
		return s, err
	}
	if s.orgs, err = s.Prepare(ctx); err != nil {
		return s, err
	}
	return s, s.StartServer(ctx)
}

// startEngines starts only what takes part: PostgreSQL and ClickHouse, whose
// data lies on a disk that can be filled, where one can be had.
func (s *system) startEngines(ctx context.Context) error {
	if err := s.addVolume(ctx, "clickhouse", filepath.Join(s.State, "clickhouse", "data"), 16<<30); err != nil {
		return err
	}
	if err := s.Up(ctx, "postgres", "clickhouse"); err != nil {
		return err
	}
	s.fixed = append(s.Env,
		"ASSAY_REDIS_URL=", // it takes no part
		"ASSAY_TRACE_GRPC_ADDR=", "ASSAY_ADMISSION_BYTES="+strconv.Itoa(inflightLimit))
	return nil
}

// proxyClickHouse puts the proxy between the application and ClickHouse.
func (s *system) proxyClickHouse(ctx context.Context) error {
	for _, name := range []string{"ASSAY_CLICKHOUSE_URL", "ASSAY_CLICKHOUSE_READER_URL"} {
		u, err := url.Parse(s.Engine[name])
		if err != nil {
			return err
		}
		if s.net.proxies["clickhouse"] == nil {
			if err := s.net.add(ctx, "clickhouse", u.Host); err != nil {
				return err
			}
		}
		u.Host = s.net.proxies["clickhouse"].listen
		s.fixed = append(s.fixed, name+"="+u.String())
	}
	return nil
}

// use gives the application object storage of a kind, from its next start on.
func (s *system) use(store string) {
	s.store = s.stores[store]
	s.Env = slices.Concat(s.fixed, s.store.env)
}

// open connects the check to ClickHouse.
func (s *system) open() (err error) {
	if s.direct, err = clickhouse.Connect(secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"])); err == nil {
		s.OnStop(s.direct.Close)
	}
	return err
}
