package bench

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/devenv"
)

// Engines are the processes of PostgreSQL, ClickHouse and Temporal.
type Engines []int

// FindEngines finds the engines of this checkout, which have to run on this
// machine.
func FindEngines() (Engines, error) {
	var all Engines
	for _, name := range []string{"ASSAY_POSTGRES_URL", "ASSAY_CLICKHOUSE_URL", "ASSAY_TEMPORAL_ADDRESS"} {
		address, err := devenv.Get(name)
		if err != nil {
			return nil, err
		}
		if strings.Contains(address, "://") {
			u, err := url.Parse(address)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			address = u.Host
		}
		pid, err := Listener(address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, pid)
	}
	return all, nil
}

// CPU is the time that the processors gave the engines so far.
func (e Engines) CPU() (sum time.Duration, err error) {
	for _, pid := range e {
		used, err := TreeCPU(pid)
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// When engines are quiet.
const (
	quietWindow = 500 * time.Millisecond
	quietInRow  = 3    // windows
	quietShare  = 0.15 // of one processor; engines that serve nobody take less
)

// Quiet waits until the engines have nothing left to do of what came before:
// merges, vacuums, databases that are dropped. It says so if they go on for too
// long, since what follows is then measured next to them.
func Quiet(t testing.TB) {
	t.Helper()
	if Raced {
		return
	}
	patience := 20 * time.Second
	if Whole() {
		patience = 3 * time.Minute
	}
	engines, err := FindEngines()
	require.NoError(t, err, "a bench needs the engines on this machine")
	share, err := settle(engines.CPU, patience)
	require.NoError(t, err)
	if share > quietShare {
		_, _ = fmt.Fprintf(os.Stdout, "NOT QUIET: after %s the engines still take %.2f of a processor, so what follows is worse than it should be\n", patience, share)
	}
}

// settle waits until an account of processor time hardly grows, or for as long
// as its patience lasts, and returns the share of a processor that was last
// taken.
func settle(cpu func() (time.Duration, error), patience time.Duration) (share float64, err error) {
	before, err := cpu()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for at, inRow := began, 0; inRow < quietInRow && at.Sub(began) < patience; {
		time.Sleep(quietWindow)
		now, err := cpu()
		if err != nil {
			return 0, err
		}
		share = (now - before).Seconds() / time.Since(at).Seconds()
		before, at = now, time.Now()
		inRow++
		if share > quietShare {
			inRow = 0
		}
	}
	return share, nil
}
