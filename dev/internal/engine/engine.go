// Package engine runs the engines that Assay stands on, as plain processes of
// one checkout: PostgreSQL, ClickHouse with a second shard, Redis and Temporal.
// It exists so that every test meets the real engines on a machine without
// containers.
package engine

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Engine is one of the engines. Its functions may be repeated at will: what is
// already done is left as it is.
type Engine struct {
	Name  string
	Needs []string // engines that answer before this one starts
	Port  string   // the port that a person connects to
	Hint  string   // what to do when it does not start

	// DevelopmentOnly marks an engine that the compose file does not have, and
	// must not have.
	DevelopmentOnly bool

	// Start brings the engine up with the roles, databases and namespaces that
	// Assay expects. A running process is left running.
	Start func(context.Context, *Checkout) error
	// Ready tells the version of the engine when Assay can use it.
	Ready func(context.Context, *Checkout) (version string, err error)
	// Stop is the signal for a clean end, and StopLimit how long that may take.
	Stop      syscall.Signal
	StopLimit time.Duration
}

// Engines lists the engines in the order in which they start.
var Engines = []Engine{
	{
		Name: "postgres", Port: "postgres",
		Hint:  "PostgreSQL 15 or later is needed: apt-get install -y postgresql",
		Start: startPostgres, Ready: readyPostgres,
		Stop: syscall.SIGINT, StopLimit: 20 * time.Second,
	},
	{
		Name: "clickhouse", Port: "clickhouse",
		Hint:  clickhouseHint,
		Start: startClickHouse("clickhouse"), Ready: readyClickHouse("clickhouse"),
		Stop: syscall.SIGTERM, StopLimit: 20 * time.Second,
	},
	{
		// The second shard. The compose file is for one machine, where a second
		// server would only take memory from the first; whoever has a cluster
		// brings it. Development has one so that the tables of a cluster are made
		// and used by tests. No installation depends on it: the product does not
		// know its address, and the first server does nothing with it until a
		// Distributed table asks.
		Name: "clickhouse2", Port: "clickhouse2",
		Hint:  clickhouseHint,
		Start: startClickHouse("clickhouse2"), Ready: readyClickHouse("clickhouse2"),
		Stop: syscall.SIGTERM, StopLimit: 20 * time.Second,
		DevelopmentOnly: true,
	},
	{
		Name: "redis", Port: "redis",
		Hint:  "Redis 7 is needed: apt-get install -y redis-server",
		Start: startRedis, Ready: readyRedis,
		Stop: syscall.SIGTERM, StopLimit: 10 * time.Second,
	},
	{
		Name: "temporal", Port: "temporal", Needs: []string{"postgres"},
		Hint:  "Temporal is built from source: dev/tool temporal-server shows what is wrong with the build",
		Start: startTemporal, Ready: readyTemporal,
		Stop: syscall.SIGTERM, StopLimit: 20 * time.Second,
	},
}

// Find gives the named engines, and all of them when no name is given.
func Find(names ...string) ([]Engine, error) {
	if len(names) == 0 {
		return Engines, nil
	}
	var found []Engine
	var known []string
	for _, e := range Engines {
		known = append(known, e.Name)
	}
	for _, name := range names {
		before := len(found)
		for _, e := range Engines {
			if e.Name == name {
				found = append(found, e)
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("no engine is called %q; there are: %s", name, strings.Join(known, ", "))
		}
	}
	return found, nil
}
