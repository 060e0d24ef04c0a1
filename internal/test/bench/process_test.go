package bench_test

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
)

func TestCPU(t *testing.T) {
	t.Parallel()
	before, err := bench.CPU(os.Getpid())
	require.NoError(t, err)
	n := 0
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
		n++
	}
	after, err := bench.CPU(os.Getpid())
	require.NoError(t, err)
	require.Positive(t, n)
	require.Greater(t, after, before)
}

func TestListener(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	pid, err := bench.Listener(l.Addr().String())
	require.NoError(t, err)
	require.Equal(t, os.Getpid(), pid)
	require.NoError(t, l.Close())
	_, err = bench.Listener(l.Addr().String())
	require.Error(t, err)
}

func TestTreeCPU(t *testing.T) {
	t.Parallel()
	// A shell whose child works for a while, and which then waits.
	parent := exec.CommandContext(t.Context(), "sh", "-c", `(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); echo done; read -r end`)
	in, err := parent.StdinPipe()
	require.NoError(t, err)
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	tree := func() time.Duration {
		used, err := bench.TreeCPU(parent.Process.Pid)
		require.NoError(t, err)
		return used
	}
	require.Eventually(t, func() bool { return tree() >= 50*time.Millisecond }, 3*time.Minute, time.Millisecond, "a child counts while it runs")
	running := tree()
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	require.GreaterOrEqual(t, tree(), running, "and when it has ended")
	own, err := bench.CPU(parent.Process.Pid)
	require.NoError(t, err)
	require.Less(t, own, 50*time.Millisecond, "the parent itself did nothing")
	require.NoError(t, in.Close())
	_ = parent.Wait() // read finds no line
}

func TestMemory(t *testing.T) {
	t.Parallel()
	now, err := bench.Memory(os.Getpid())
	require.NoError(t, err)
	most, err := bench.PeakMemory(os.Getpid())
	require.NoError(t, err)
	require.Positive(t, now)
	require.GreaterOrEqual(t, most, now)
	_, err = bench.Memory(-1)
	require.Error(t, err)
}
