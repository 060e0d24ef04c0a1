package bench_test

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/bench"
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
	before, err := bench.TreeCPU(os.Getpid())
	require.NoError(t, err)
	own, err := bench.CPU(os.Getpid())
	require.NoError(t, err)
	busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	require.NoError(t, busy.Start())
	grown := func(after time.Duration) bool {
		t.Helper()
		all, err := bench.TreeCPU(os.Getpid())
		require.NoError(t, err)
		ours, err := bench.CPU(os.Getpid())
		require.NoError(t, err)
		return (all-before)-(ours-own) >= after
	}
	require.Eventually(t, func() bool { return grown(100 * time.Millisecond) }, 10*time.Second, 20*time.Millisecond, "a child counts while it runs")
	require.NoError(t, busy.Process.Kill())
	require.Error(t, busy.Wait())
	require.True(t, grown(100*time.Millisecond), "and when it has ended")
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
