package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is the application in one role.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended
}

// startProcess starts a role. What it says goes to a log of its own.
func (s *system) startProcess(ctx context.Context, role string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(s.state, role+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p := &process{cmd: s.assay(ctx, role), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s (`make prove-runs` builds it): %w", s.binary, err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its state
		close(p.exited)
	}()
	return p, nil
}

// kill ends the process as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // one that has ended is as dead
	<-p.exited
}

// isKilled tells whether a process that has ended was killed.
func (p *process) isKilled() bool {
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status.Signal() == syscall.SIGKILL
}

// crash is a part that was down. Answers that were not stored when it came may
// be asked for once more.
type crash struct {
	what       string
	began, end time.Time
}

// crashed notes that a part is down. The returned function notes that it is
// back, and that its consequences are over a while later.
func (s *system) crashed(what string) (back func(after time.Duration)) {
	c := &crash{what: what, began: time.Now(), end: time.Now().Add(time.Hour)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes = append(s.crashes, c)
	return func(after time.Duration) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.end = time.Now().Add(after)
	}
}

// downs are the crashes so far.
func (s *system) downs() []crash {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]crash, len(s.crashes))
	for i, c := range s.crashes {
		all[i] = *c
	}
	return all
}

// sleep waits, as long as the proof goes on.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
