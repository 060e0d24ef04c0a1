package engine

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newCheckout makes an empty checkout with caches of its own and no override.
func newCheckout(t *testing.T) *Checkout {
	t.Helper()
	root := t.TempDir()
	if err := writeFile(filepath.Join(root, "dev", "tool"), "", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, line := range portTable {
		t.Setenv(line.Env, "")
	}
	c, err := Open(root, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDevelopmentPortsLieTenThousandAboveTheStandardOnes(t *testing.T) {
	for _, line := range portTable {
		t.Setenv(line.Env, "")
	}
	p, err := block(0)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"postgres": 15432, "clickhouse": 19000, "clickhouse-http": 18123, "clickhouse2": 19002, "clickhouse2-http": 18124, "temporal": 17233, "redis": 16379} {
		if p.on(name) != want {
			t.Errorf("%s listens on %d, want %d", name, p.on(name), want)
		}
	}
}

func TestNoTwoPortsOfAnyBlocksAreTheSame(t *testing.T) {
	for _, line := range portTable {
		t.Setenv(line.Env, "")
	}
	p, err := block(300)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]string{}
	for name, number := range p.all() {
		place := number % blockStep
		if other := seen[place]; other != "" {
			t.Errorf("%s and %s meet on port %d, in this block or the next ones", name, other, number)
		}
		seen[place] = name
	}
}

// The record of an older launcher has no port for an engine that is new.
func TestANewEngineJoinsThoseThatRun(t *testing.T) {
	t.Setenv("ASSAY_CACHE", t.TempDir())
	for _, anyRunning := range []bool{true, false} {
		c := newCheckout(t)
		if err := c.choosePorts(false); err != nil {
			t.Fatal(err)
		}
		want := maps.Clone(c.Ports.Port)
		delete(c.Ports.Port, "clickhouse2")
		if err := c.recordPorts(); err != nil {
			t.Fatal(err)
		}
		c.Ports = Ports{}
		if err := c.choosePorts(anyRunning); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(c.Ports.Port, want) {
			t.Errorf("ports went from %v to %v", want, c.Ports.Port)
		}
		content, err := os.ReadFile(c.path("ports.json"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), `"clickhouse2"`) {
			t.Errorf("the new port is not recorded: %s", content)
		}
	}
}

func TestTheWholeBlockMovesWhenOnePortIsTaken(t *testing.T) {
	t.Setenv("ASSAY_CACHE", t.TempDir())
	c := newCheckout(t)
	if err := c.choosePorts(false); err != nil {
		t.Fatal(err)
	}
	first := c.Ports
	taken, err := net.Listen("tcp", first.address("redis"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	if err := c.choosePorts(false); err != nil {
		t.Fatal(err)
	}
	if c.Ports.Block <= first.Block || c.Ports.on("postgres")-first.on("postgres") != c.Ports.Block-first.Block {
		t.Errorf("ports went from %v to %v", first, c.Ports)
	}
}

func TestTwoCheckoutsGetDifferentBlocks(t *testing.T) {
	t.Setenv("ASSAY_CACHE", t.TempDir())
	one, two := newCheckout(t), newCheckout(t)
	for _, c := range []*Checkout{one, two} {
		if err := c.choosePorts(false); err != nil {
			t.Fatal(err)
		}
	}
	if one.Ports.Block == two.Ports.Block {
		t.Errorf("both have block %d, though neither listens yet", one.Ports.Block)
	}
	if err := os.RemoveAll(one.path()); err != nil {
		t.Fatal(err)
	}
	three := newCheckout(t)
	if err := three.choosePorts(false); err != nil {
		t.Fatal(err)
	}
	if three.Ports.Block != one.Ports.Block {
		t.Errorf("the block %d of a checkout that is gone stays claimed", one.Ports.Block)
	}
}

func TestAnOverrideHoldsAndIsRefusedWhileEnginesRun(t *testing.T) {
	t.Setenv("ASSAY_CACHE", t.TempDir())
	c := newCheckout(t)
	t.Setenv("ASSAY_DEV_REDIS_PORT", "23456")
	if err := c.choosePorts(false); err != nil {
		t.Fatal(err)
	}
	if c.Ports.on("redis") != 23456 {
		t.Fatalf("redis got port %d", c.Ports.on("redis"))
	}
	t.Setenv("ASSAY_DEV_REDIS_PORT", "23457")
	if err := c.choosePorts(true); err == nil {
		t.Error("an override changed the port of a running engine")
	}
	t.Setenv("ASSAY_DEV_REDIS_PORT", "everything")
	if err := c.choosePorts(false); err == nil {
		t.Error("an override that is no port was accepted")
	}
}
