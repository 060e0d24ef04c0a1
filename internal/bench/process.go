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
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name comes second, in brackets, and may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12
	var ticks int64
	for _, i := range []int{user, system} {
		if len(fields) <= i {
			return 0, errors.New("/proc has no account of the process")
		}
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
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
