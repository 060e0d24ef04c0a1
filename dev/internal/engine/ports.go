package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// devOffset separates a development engine from one that the machine runs on
// its standard port: development listens on 10000 + standard.
const devOffset = 10000

// blockStep is how far the whole block of ports moves when it is taken, and
// blockLimit how often it may.
const (
	blockStep  = 100
	blockLimit = 40
)

// portPatience is how long an engine waits for ports that are in use: those of
// one that was just killed come free in a moment.
const portPatience = 2 * time.Second

// port is one line of the table that development and the compose file share.
type port struct {
	Name     string
	Standard int
	Env      string // names the variable that overrides the development port
}

// portTable is the only place that knows the ports. The compose file publishes
// the standard ones on loopback, but for those of an engine that it does not
// have. Within a block no two ports end in the same two digits, so that no port
// of one block is another's of the next.
var portTable = []port{
	{Name: "postgres", Standard: 5432, Env: "ASSAY_DEV_POSTGRES_PORT"},
	{Name: "clickhouse", Standard: 9000, Env: "ASSAY_DEV_CLICKHOUSE_PORT"},
	{Name: "clickhouse-http", Standard: 8123, Env: "ASSAY_DEV_CLICKHOUSE_HTTP_PORT"},
	{Name: "clickhouse2", Standard: 9002, Env: "ASSAY_DEV_CLICKHOUSE2_PORT"},
	{Name: "clickhouse2-http", Standard: 8124, Env: "ASSAY_DEV_CLICKHOUSE2_HTTP_PORT"},
	{Name: "temporal", Standard: 7233, Env: "ASSAY_DEV_TEMPORAL_PORT"},
	{Name: "redis", Standard: 6379, Env: "ASSAY_DEV_REDIS_PORT"},
}

// temporalPrivate are the ports that Temporal's services use among themselves,
// as distances from the frontend's, so that they move with it.
var temporalPrivate = map[string]int{
	"history": 1, "matching": 2, "worker": 6, "http": 10,
	"frontend-membership": 20, "history-membership": 21, "matching-membership": 22, "worker-membership": 23,
}

// Ports are the ports that a checkout's engines listen on. They stay the same
// for the life of its .dev folder unless something else takes one meanwhile.
type Ports struct {
	Block int            `json:"block"` // how far the block lies from the defaults
	Port  map[string]int `json:"ports"`
}

// on gives a port of the table, and the loopback address with it.
func (p Ports) on(name string) int { return p.Port[name] }

func (p Ports) address(name string) string { return loopback(p.on(name)) }

func (p Ports) temporal(service string) int { return p.on("temporal") + temporalPrivate[service] }

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// all lists every port that has to be free, the private ones included.
func (p Ports) all() map[string]int {
	all := map[string]int{}
	for name, number := range p.Port {
		all[name] = number
	}
	for service := range temporalPrivate {
		all["temporal "+service] = p.temporal(service)
	}
	return all
}

// block computes the ports at a distance from the defaults. An overridden port
// does not move.
func block(distance int) (Ports, error) {
	p := Ports{Block: distance, Port: map[string]int{}}
	for _, line := range portTable {
		p.Port[line.Name] = line.Standard + devOffset + distance
		if text := os.Getenv(line.Env); text != "" {
			number, err := strconv.Atoi(text)
			if err != nil || number < 1 || number > 65000 {
				return p, fmt.Errorf("%s=%q is not a port", line.Env, text)
			}
			p.Port[line.Name] = number
		}
	}
	return p, nil
}

// taken names one of the ports that another program listens on.
func taken(ports map[string]int) (string, bool) {
	for name, number := range ports {
		listener, err := net.Listen("tcp", loopback(number))
		if err != nil {
			return fmt.Sprintf("%s port %d", name, number), true
		}
		_ = listener.Close()
	}
	return "", false
}

// awaitFree waits a moment for the ports, and names one that stays taken.
func awaitFree(ports map[string]int) (which string, free bool) {
	for deadline := time.Now().Add(portPatience); ; time.Sleep(50 * time.Millisecond) {
		which, busy := taken(ports)
		if !busy || time.Now().After(deadline) {
			return which, !busy
		}
	}
}

// LoadPorts reads the recorded ports, and tells whether there are any. A port
// that the table has gained since then is at its place in the recorded block, so
// that a new engine joins those that run.
func (c *Checkout) LoadPorts() (bool, error) {
	content, err := os.ReadFile(c.path("ports.json"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(content, &c.Ports); err != nil {
		return false, fmt.Errorf("%s: %w", c.path("ports.json"), err)
	}
	if len(c.Ports.Port) == 0 {
		return false, nil
	}
	fresh, err := block(c.Ports.Block)
	if err != nil {
		return false, err
	}
	for _, line := range portTable {
		if c.Ports.on(line.Name) == 0 {
			c.Ports.Port[line.Name] = fresh.on(line.Name)
		}
	}
	return true, nil
}

func (c *Checkout) recordPorts() error {
	content, err := json.MarshalIndent(c.Ports, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(c.path("ports.json"), string(content)+"\n", 0o644)
}

// choosePorts settles the ports before engines start. Recorded ports hold while
// an engine runs on them; an idle checkout whose ports were taken, or that has
// an override now, gets a new block.
func (c *Checkout) choosePorts(anyRunning bool) error {
	recorded, err := c.LoadPorts()
	if err != nil {
		return err
	}
	if recorded {
		wanted, err := block(c.Ports.Block)
		if err != nil {
			return err
		}
		for _, line := range portTable {
			if wanted.on(line.Name) == c.Ports.on(line.Name) {
				continue
			}
			if anyRunning && os.Getenv(line.Env) != "" {
				return fmt.Errorf("engines run with %s on port %d, and %s asks for %d; run `down` first",
					line.Name, c.Ports.on(line.Name), line.Env, wanted.on(line.Name))
			}
			recorded = anyRunning
		}
		if anyRunning {
			return c.recordPorts()
		}
		if recorded {
			if _, free := awaitFree(c.Ports.all()); free {
				return c.recordPorts()
			}
		}
	}
	return c.claimBlock()
}

// claimBlock finds the first block that is free and that no other checkout has
// claimed, so that two checkouts that start together, or one that is down now,
// do not meet on the same ports.
func (c *Checkout) claimBlock() error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	claims := filepath.Join(cache, "ports")
	if err := os.MkdirAll(claims, 0o755); err != nil {
		return err
	}
	unlock, err := flock(filepath.Join(claims, "lock"), func() {})
	if err != nil {
		return err
	}
	defer unlock()
	for i := range blockLimit {
		p, err := block(i * blockStep)
		if err != nil {
			return err
		}
		claim := filepath.Join(claims, strconv.Itoa(p.Block))
		if other := claimant(claim); other != "" && other != c.State {
			continue
		}
		if which, busy := taken(p.all()); busy {
			c.say("", "%s is in use; trying the next block", which)
			continue
		}
		c.Ports = p
		if err := c.recordPorts(); err != nil {
			return err
		}
		return writeFile(claim, c.State+"\n", 0o644)
	}
	return fmt.Errorf("no block of free ports among %d; set %s and the like", blockLimit, portTable[0].Env)
}

// claimant gives the state folder that holds the claim, or nothing when that
// folder is gone or has moved to another block.
func claimant(claim string) string {
	content, err := os.ReadFile(claim)
	if err != nil || len(content) == 0 {
		return ""
	}
	other := Checkout{State: string(content[:len(content)-1])}
	if recorded, err := other.LoadPorts(); err != nil || !recorded || strconv.Itoa(other.Ports.Block) != filepath.Base(claim) {
		return ""
	}
	return other.State
}

// answers tells whether something accepts connections at the address.
func answers(address string) error {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}
