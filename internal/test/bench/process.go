package bench

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the kernel's accounts of processor time. It is the same
// on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// CPU is the time that the processors gave a process so far, all its threads
// included.
func CPU(pid int) (time.Duration, error) {
	p, err := readAccount(pid)
	return p.own, err
}

// TreeCPU is the time that the processors gave a process and everything that it
// started, also what has ended since: PostgreSQL is a process for each
// connection.
func TreeCPU(pid int) (time.Duration, error) {
	root, err := readAccount(pid)
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	children := map[int][]account{}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// One that ends while we look is in its parent's account a moment later.
		if p, err := readAccount(n); err == nil {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	var sum func(p account) time.Duration
	sum = func(p account) time.Duration {
		all := p.own + p.ended
		for _, c := range children[p.pid] {
			all += sum(c)
		}
		return all
	}
	return sum(root), nil
}

// account is what the kernel says about a process.
type account struct {
	pid, parent int
	own, ended  time.Duration // of processors: its own, and of its children that have ended
}

func readAccount(pid int) (account, error) {
	p := account{pid: pid}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, err
	}
	// The name comes second, in brackets, and may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const parent, user, system, endedUser, endedSystem = 1, 11, 12, 13, 14
	if len(fields) <= endedSystem {
		return p, errors.New("/proc has no account of the process")
	}
	var n [endedSystem + 1]int64
	for _, i := range []int{parent, user, system, endedUser, endedSystem} {
		if n[i], err = strconv.ParseInt(string(fields[i]), 10, 64); err != nil {
			return p, err
		}
	}
	p.parent = int(n[parent])
	p.own, p.ended = time.Duration(n[user]+n[system])*tick, time.Duration(n[endedUser]+n[endedSystem])*tick
	return p, nil
}

// PeakMemory is the most that a process has had in memory, in bytes.
func PeakMemory(pid int) (int64, error) { return memory(pid, "VmHWM:") }

// Memory is what a process has in memory, in bytes.
func Memory(pid int) (int64, error) { return memory(pid, "VmRSS:") }

func memory(pid int, field string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("memory is read from /proc, which only Linux has: %w", err)
	}
	_, rest, _ := strings.Cut(string(status), field)
	line, _, _ := strings.Cut(rest, "kB")
	kb, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return kb << 10, err
}

// Listener is the process of this machine that listens at an address of
// loopback: the engine behind a URL.
func Listener(addr string) (pid int, err error) {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, err
	}
	inode, err := listening(uint16(port))
	if err != nil {
		return 0, err
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0, err
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == "socket:["+inode+"]" {
			return strconv.Atoi(strings.Split(link, "/")[2])
		}
	}
	return 0, fmt.Errorf("the process that listens at %s is not ours to see", addr)
}

// listening is the inode of the socket that listens at a port.
func listening(port uint16) (inode string, err error) {
	const listen = "0A"
	want := strings.ToUpper(hex.EncodeToString([]byte{byte(port >> 8), byte(port)}))
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(table)) {
			fields := strings.Fields(line)
			if len(fields) > 9 && strings.HasSuffix(fields[1], ":"+want) && fields[3] == listen {
				return fields[9], nil
			}
		}
	}
	return "", fmt.Errorf("nothing listens at port %d of this machine", port)
}

// LoadAverage is how many processes wanted to run in the last minute: above the
// number of processors, times say little.
func LoadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}
