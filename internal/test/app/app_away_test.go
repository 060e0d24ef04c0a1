package app_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// commandVariable makes this test binary the command of the application that it names.
const commandVariable = "ASSAY_TEST_COMMAND"

// process is a process of the application.
type process struct {
	cmd       *exec.Cmd
	listening chan string   // has the address
	ended     chan struct{} // closed when it has ended

	mu    sync.Mutex
	lines []string
}

// begin starts a process with a command and settings.
func begin(t *testing.T, command string, settings []string) *process {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	p := &process{cmd: exec.CommandContext(t.Context(), binary), listening: make(chan string, 1), ended: make(chan struct{})}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), commandVariable + "=" + command}, settings...)
	out, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.ended)
		p.read(out)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		<-p.ended
		_ = p.cmd.Wait()
	})
	return p
}

func (p *process) read(out io.Reader) {
	defer close(p.listening)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		p.mu.Unlock()
		var line struct{ Msg, Addr, Reference string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" && line.Reference != "" {
			p.listening <- line.Addr
		}
	}
}

func (p *process) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines[:len(p.lines):len(p.lines)]
}

// ready is what a process says about its engines.
type ready struct {
	Status string
	Checks []struct {
		Name    string
		OK      bool
		Message *string
	}
	Error struct {
		Details struct {
			Checks []struct {
				Name string
				OK   bool
			}
		}
	}
}

// missing are the engines that it says do not answer.
func (r ready) missing() (names []string) {
	for _, c := range r.Checks {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	for _, c := range r.Error.Details.Checks {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return names
}

// Each role starts while one of its engines is away, says which, and does not fill the log
// with it.
func TestEnginesAway(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	const nobody = "127.0.0.1:1"
	away := map[string][]string{
		"postgres":   {"ASSAY_POSTGRES_URL=postgres://assay@" + nobody + "/assay", "ASSAY_POSTGRES_OWNER_URL=postgres://assay@" + nobody + "/assay"},
		"clickhouse": {"ASSAY_CLICKHOUSE_URL=clickhouse://assay@" + nobody + "/assay", "ASSAY_CLICKHOUSE_READER_URL=clickhouse://reader@" + nobody + "/assay"},
		"temporal":   {"ASSAY_TEMPORAL_ADDRESS=" + nobody},
		"redis":      {"ASSAY_REDIS_URL=redis://" + nobody},
	}
	type started struct {
		role, engine string
		*process
	}
	var all []started
	for engine, settings := range away {
		for _, role := range []string{"all", "serve", "worker"} {
			common := append(environ(cfg),
				"ASSAY_HTTP_ADDR=127.0.0.1:0", "ASSAY_HTTP_INTERNAL_ADDR=", "ASSAY_TRACE_GRPC_ADDR=", "ASSAY_BLOB_URL=file://"+t.TempDir(),
				"ASSAY_TEMPORAL_QUEUE_PREFIX=away-"+engine+"-"+role)
			all = append(all, started{role, engine, begin(t, role, append(common, settings...))})
		}
	}
	for _, p := range all {
		if p.role == "worker" {
			continue
		}
		address := <-p.listening // although the engine never comes
		require.NotEmpty(t, address, "%s without %s has ended: %s", p.role, p.engine, p.said())
		require.Eventually(t, func() bool {
			res, err := http.Get("http://" + address + "/api/health/ready")
			if err != nil {
				return false
			}
			defer func() { _ = res.Body.Close() }()
			var r ready
			return json.NewDecoder(res.Body).Decode(&r) == nil && len(r.missing()) == 1 && r.missing()[0] == p.engine
		}, time.Minute, 50*time.Millisecond, "%s says that %s is away", p.role, p.engine)
	}
	time.Sleep(20 * time.Second) // every line is written at most twice a minute
	for _, p := range all {
		said := p.said()
		select {
		case <-p.ended:
			t.Errorf("%s without %s has ended: %s", p.role, p.engine, said)
		default:
		}
		require.LessOrEqual(t, len(said), 20, "%s without %s:\n%s", p.role, p.engine, strings.Join(said, "\n"))
		for _, line := range said {
			require.True(t, json.Valid([]byte(line)), "%s without %s writes a line that is not JSON: %s", p.role, p.engine, line)
		}
	}
}
