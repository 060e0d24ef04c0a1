package bench_test

import (
	"net"
	"os"
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
