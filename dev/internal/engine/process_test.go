package engine

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func startSleeper(t *testing.T, c *Checkout, script string) identity {
	t.Helper()
	if _, err := c.spawn(process{engine: "sleeper", args: []string{"sh", "-c", script}}); err != nil {
		t.Fatal(err)
	}
	id, up := c.running("sleeper")
	if !up {
		t.Fatal("a process that was just started is not found")
	}
	t.Cleanup(func() { _ = syscall.Kill(-id.pid, syscall.SIGKILL) })
	return id
}

func TestAStoppedProcessIsForgotten(t *testing.T) {
	c := newCheckout(t)
	id := startSleeper(t, c, "exec sleep 60")
	if err := c.stop("sleeper", syscall.SIGTERM, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, up := c.running("sleeper"); up || id.alive() {
		t.Error("the process runs on after stop")
	}
}

func TestAProcessThatIgnoresTheSignalIsKilled(t *testing.T) {
	c := newCheckout(t)
	id := startSleeper(t, c, `trap "" TERM; echo deaf; while :; do sleep 1; done`)
	for deadline := time.Now().Add(5 * time.Second); len(c.LogTail("sleeper", 1)) == 0 || c.LogTail("sleeper", 1)[0] != "deaf"; {
		if time.Now().After(deadline) {
			t.Fatal("the process does not speak")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.stop("sleeper", syscall.SIGTERM, 200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if id.alive() {
		t.Error("the process survives")
	}
}

func TestKillTakesTheDescendantsInOtherGroups(t *testing.T) {
	c := newCheckout(t)
	id := startSleeper(t, c, "setsid sh -c 'sleep 60; true' & wait")
	var family []identity
	for deadline := time.Now().Add(5 * time.Second); len(family) < 2; family = descendants(id.pid) {
		if time.Now().After(deadline) {
			t.Fatalf("the children do not appear: %v", family)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.kill("sleeper"); err != nil {
		t.Fatal(err)
	}
	for _, member := range append(family, id) {
		if member.alive() {
			t.Errorf("process %d survives", member.pid)
		}
	}
}

// A stranger that has the number of an engine that died is never touched.
func TestARecycledNumberIsNotTheEngine(t *testing.T) {
	c := newCheckout(t)
	self, err := readStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{
		fmt.Sprintf("%d %s1 %s\n", os.Getpid(), self.start, bootID()),
		fmt.Sprintf("%d %s another-boot\n", os.Getpid(), self.start),
		"",
		"not a number\n",
	} {
		if err := writeFile(c.pidPath("stranger"), record, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, up := c.running("stranger"); up {
			t.Errorf("the record %q is taken for this process", strings.TrimSpace(record))
		}
		if err := c.stop("stranger", syscall.SIGKILL, time.Second); err != nil {
			t.Error(err)
		}
	}
}
