package rig

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/assayhq/assay/internal/platform/failpoint"
)

// Process is the application in one role.
type Process struct {
	name   string // in errors
	cmd    *exec.Cmd
	err    error         // how it ended
	exited chan struct{} // closed when it has
}

// Start starts a role. What it says goes to a log of its own.
func (s *System) Start(ctx context.Context, name, role string) (*Process, error) {
	log, err := os.OpenFile(s.log(role), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p := &Process{name: name, cmd: s.Assay(ctx, role), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s (`make` builds it before a proof): %w", s.Binary, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// Serve starts the API and waits until it listens.
func (s *System) Serve(ctx context.Context, name string, patience time.Duration) (*Process, error) {
	p, err := s.Start(ctx, name, "serve")
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(patience); ; {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(s.URL, "http://"), time.Second)
		if err == nil {
			return p, conn.Close()
		}
		select {
		case <-p.exited:
			return p, p.Ended()
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(until) {
			return p, fmt.Errorf("the %s does not listen: %w", name, err)
		}
	}
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Ended says how a process ended that should not have.
func (p *Process) Ended() error { return fmt.Errorf("the %s ended: %w", p.name, p.err) }

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Kill ends the process as a power cut would. It tells whether the process still
// ran; one that had ended is as dead.
func (p *Process) Kill() (ran bool) {
	err := p.Signal(syscall.SIGKILL)
	<-p.exited
	return err == nil
}

// Stop ends the process in good order.
func (p *Process) Stop(patience time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
		return p.err
	case <-time.After(patience):
		return fmt.Errorf("the %s does not end", p.name)
	}
}

// trap is the file that names the failpoint that kills the application.
func (s *System) trap() string { return filepath.Join(s.State, "failpoint") }

// Arm sets the trap at a point.
func (s *System) Arm(point failpoint.Point) error {
	return os.WriteFile(s.trap(), []byte(point), 0o600)
}

// Dies waits until a process has died at the armed point.
func (s *System) Dies(ctx context.Context, p *Process, point failpoint.Point, patience time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience):
		return fmt.Errorf("the point %s was not reached", point)
	case <-p.exited:
	}
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	left, err := os.ReadFile(s.trap())
	if err != nil {
		return err
	}
	if status.Signal() != syscall.SIGKILL || strings.TrimSpace(string(left)) != "" {
		return fmt.Errorf("the %s ended (%s) and not at the point %s", p.name, p.cmd.ProcessState, point)
	}
	s.Points[point]++
	return nil
}
