package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one engine's program as it is to be started.
type process struct {
	engine     string
	args       []string
	env        []string // added to the launcher's environment
	dir        string
	credential *syscall.Credential
	caps       []uintptr
}

// identity tells one process from every other that ever had its number: a
// number alone may belong to a stranger by the time it is used.
type identity struct {
	pid   int
	start string // the kernel's start time of the process
	boot  string // the boot in which that start time counts
}

// logLimit is the size at which a log is set aside when its engine starts.
const logLimit = 64 << 20

// spawn starts the program in a session of its own, so that it outlives the
// shell that asked for it, and records its identity. It returns at once; a
// program that ends early is reported on the channel.
func (c *Checkout) spawn(p process) (ended <-chan error, err error) {
	logPath := c.LogPath(p.engine)
	if info, err := os.Stat(logPath); err == nil && info.Size() > logLimit {
		if err := os.Rename(logPath, logPath+".1"); err != nil {
			return nil, err
		}
	}
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: p.credential, AmbientCaps: p.caps}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.args[0], err)
	}
	stat, err := readStat(cmd.Process.Pid)
	if err != nil {
		return nil, fmt.Errorf("%s ended as soon as it started: %w", p.engine, err)
	}
	record := fmt.Sprintf("%d %s %s\n", cmd.Process.Pid, stat.start, bootID())
	if err := writeFile(c.pidPath(p.engine), record, 0o644); err != nil {
		_ = cmd.Process.Kill()
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return done, nil
}

func (c *Checkout) pidPath(engine string) string { return c.path("pid", engine) }

// running finds the engine's process of an earlier start, and nothing when that
// process is gone, even when its number is in use again.
func (c *Checkout) running(engine string) (identity, bool) {
	content, err := os.ReadFile(c.pidPath(engine))
	if err != nil {
		return identity{}, false
	}
	fields := strings.Fields(string(content))
	if len(fields) != 3 {
		return identity{}, false
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return identity{}, false
	}
	id := identity{pid: pid, start: fields[1], boot: fields[2]}
	return id, id.alive()
}

// alive tells whether the process runs. One that has ended but was not yet
// collected counts as gone, though only when its last thread is: until then it
// may hold ports and files.
func (id identity) alive() bool {
	stat, err := readStat(id.pid)
	if err != nil || stat.start != id.start || bootID() != id.boot {
		return false
	}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", id.pid))
	return stat.state != "Z" || len(threads) > 1
}

// stop ends the engine with its own signal for a clean end, and by force when
// the limit passes.
func (c *Checkout) stop(engine string, clean syscall.Signal, limit time.Duration) error {
	id, up := c.running(engine)
	if up {
		if err := syscall.Kill(id.pid, clean); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop %s: %w", engine, err)
		}
		if !waitGone(id, limit) {
			c.say(engine, "did not stop within %s; killing it", limit)
			return c.kill(engine)
		}
	}
	return forget(c.pidPath(engine))
}

// kill ends the engine and all its descendants at once, as a crash of the
// machine would, and returns when they are gone. The descendants count because
// PostgreSQL gives each backend a process group of its own.
func (c *Checkout) kill(engine string) error {
	id, up := c.running(engine)
	if !up {
		return fmt.Errorf("%s is not running", engine)
	}
	family := append([]identity{id}, descendants(id.pid)...)
	_ = syscall.Kill(-id.pid, syscall.SIGKILL)
	for _, member := range family {
		if member.alive() {
			_ = syscall.Kill(member.pid, syscall.SIGKILL)
		}
	}
	for _, member := range family {
		if !waitGone(member, 10*time.Second) {
			return fmt.Errorf("%s: process %d survives SIGKILL", engine, member.pid)
		}
	}
	return forget(c.pidPath(engine))
}

func waitGone(id identity, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); id.alive(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

func forget(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// stat is what the kernel tells about a process.
type stat struct {
	state  string
	parent int
	start  string
}

func readStat(pid int) (stat, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The program's name stands in parentheses and may hold spaces of its own.
	text := string(content)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("process %d: unexpected stat", pid)
	}
	parent, err := strconv.Atoi(fields[1])
	return stat{state: fields[0], parent: parent, start: fields[19]}, err
}

func bootID() string {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(content))
}

// processes lists every process that matches.
func processes(match func(pid int, s stat) bool) []identity {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	boot := bootID()
	var found []identity
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil && match(pid, s) {
			found = append(found, identity{pid: pid, start: s.start, boot: boot})
		}
	}
	return found
}

func descendants(pid int) []identity {
	var all []identity
	for parents := []int{pid}; len(parents) > 0; {
		children := processes(func(_ int, s stat) bool { return slices.Contains(parents, s.parent) })
		all = append(all, children...)
		parents = nil
		for _, child := range children {
			parents = append(parents, child.pid)
		}
	}
	return all
}
