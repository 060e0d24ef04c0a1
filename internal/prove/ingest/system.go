package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/prove/rig"
)

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
	app     *rig.Process
	client  *http.Client
	volumes []*volume
	tools   []*tool
}

func start(ctx context.Context, binary string) (s *system, err error) {
	s = &system{stores: map[string]*store{}, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true},
	}}
	if s.System, err = rig.New(ctx, binary); err != nil {
		return s, err
	}
	if err := s.startEngines(ctx); err != nil {
		return s, err
	}
	if s.direct, err = clickhouse.Connect(secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"])); err != nil {
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
	return s, s.startApp(ctx)
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

// startApp starts the application as it serves, and waits until it listens. It
// must do that whether its engines are there or not.
func (s *system) startApp(ctx context.Context) (err error) {
	s.app, err = s.Serve(ctx, "application", patience)
	return err
}

// Logs returns the end of the application's log as an error.
func (s *system) Logs() error { return s.Tail("the application's log", "serve") }

// Stop ends everything and removes what was written, unless it is to be kept.
func (s *system) Stop(keep bool) error {
	if s.app != nil {
		s.app.Kill()
	}
	var errs []error
	if s.direct != nil {
		errs = append(errs, s.direct.Close())
	}
	for _, t := range s.tools {
		t.stop()
	}
	errs = append(errs, s.Down())
	if keep {
		return errors.Join(append(errs, fmt.Errorf("the state is kept in %s; what is mounted there has to be unmounted", s.State))...)
	}
	for _, v := range s.volumes {
		errs = append(errs, v.unmount())
	}
	return errors.Join(append(errs, s.Remove())...)
}
