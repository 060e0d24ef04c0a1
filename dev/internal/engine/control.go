package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Failure is an engine that did not come up.
type Failure struct {
	Engine Engine
	Err    error
}

func (f *Failure) Error() string { return fmt.Sprintf("%s did not start: %v", f.Engine.Name, f.Err) }
func (f *Failure) Unwrap() error { return f.Err }

// Up brings the named engines up, with those that they need, and writes the env
// file. Engines that are ready are left alone; one that died or hangs half
// started is brought up again. Independent engines start side by side.
func (c *Checkout) Up(ctx context.Context, names ...string) error {
	wanted, err := withNeeds(names)
	if err != nil {
		return err
	}
	unlock, err := c.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.choosePorts(c.anyRunning()); err != nil {
		return err
	}

	done := map[string]chan struct{}{}
	for _, e := range wanted {
		done[e.Name] = make(chan struct{})
	}
	failures := make([]error, len(wanted))
	failed := map[string]bool{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for i, e := range wanted {
		group.Go(func() {
			defer close(done[e.Name])
			for _, need := range e.Needs {
				<-done[need]
			}
			mu.Lock()
			blocked := slices.ContainsFunc(e.Needs, func(need string) bool { return failed[need] })
			mu.Unlock()
			if blocked {
				failures[i] = fmt.Errorf("%s was not started, because it needs %s", e.Name, strings.Join(e.Needs, ", "))
			} else if err := c.bringUp(ctx, e); err != nil {
				failures[i] = &Failure{Engine: e, Err: err}
			}
			if failures[i] != nil {
				mu.Lock()
				failed[e.Name] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	return c.writeEnv()
}

func (c *Checkout) bringUp(ctx context.Context, e Engine) error {
	if _, up := c.running(e.Name); up {
		attempt, cancel := context.WithTimeout(ctx, 3*time.Second)
		_, err := e.Ready(attempt, c)
		cancel()
		if err == nil {
			return nil
		}
		c.say(e.Name, "runs but is not ready yet")
	}
	started := time.Now()
	c.say(e.Name, "starting")
	if err := e.Start(ctx, c); err != nil {
		return err
	}
	version, err := e.Ready(ctx, c)
	if err != nil {
		return err
	}
	c.say(e.Name, "ready after %.1f s (version %s)", time.Since(started).Seconds(), version)
	return nil
}

// withNeeds adds the engines that the named ones need, in start order.
func withNeeds(names []string) ([]Engine, error) {
	found, err := Find(names...)
	if err != nil {
		return nil, err
	}
	include := map[string]bool{}
	for _, e := range found {
		include[e.Name] = true
		for _, need := range e.Needs {
			include[need] = true
		}
	}
	var wanted []Engine
	for _, e := range Engines {
		if include[e.Name] {
			wanted = append(wanted, e)
		}
	}
	return wanted, nil
}

func (c *Checkout) anyRunning() bool {
	return slices.ContainsFunc(Engines, func(e Engine) bool {
		_, up := c.running(e.Name)
		return up
	})
}

// Down stops the named engines, the last started first.
func (c *Checkout) Down(names ...string) error {
	found, err := Find(names...)
	if err != nil {
		return err
	}
	unlock, err := c.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	var failures []error
	for _, e := range slices.Backward(Engines) {
		if !slices.ContainsFunc(found, func(f Engine) bool { return f.Name == e.Name }) {
			continue
		}
		if _, up := c.running(e.Name); up {
			c.say(e.Name, "stopping")
		}
		failures = append(failures, c.stop(e.Name, e.Stop, e.StopLimit))
	}
	return errors.Join(failures...)
}

// Kill ends one engine as a crash would.
func (c *Checkout) Kill(name string) error {
	if _, err := Find(name); err != nil {
		return err
	}
	unlock, err := c.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	return c.kill(name)
}

// State is what Status tells about an engine.
type State struct {
	Engine  Engine
	Version string
	Address string
	State   string // "ready", "not ready" or "down"
	Log     string
	Err     error // why it is not ready
}

// Status asks every engine how it is, all at once.
func (c *Checkout) Status(ctx context.Context) ([]State, error) {
	if _, err := c.LoadPorts(); err != nil {
		return nil, err
	}
	states := make([]State, len(Engines))
	var group sync.WaitGroup
	for i, e := range Engines {
		group.Go(func() {
			s := State{Engine: e, State: "down", Version: "-", Address: "-", Log: c.LogPath(e.Name)}
			if c.Ports.on(e.Port) != 0 {
				s.Address = c.Ports.address(e.Port)
			}
			if _, up := c.running(e.Name); up {
				ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
				defer cancel()
				s.State = "ready"
				if version, err := e.Ready(ctx, c); err != nil {
					s.State, s.Err = "not ready", err
				} else {
					s.Version = version
				}
			}
			states[i] = s
		})
	}
	group.Wait()
	return states, nil
}
