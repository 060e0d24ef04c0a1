package simulated_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

const benchPrompt = 1000 // bytes; a short judge prompt

func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSocket is what a call costs over a connection. Its client writes
// bytes that are ready and reads by hand, so that nearly all of the processor's
// time is the provider's; the figure counts all of it.
func BenchmarkSocket(b *testing.B) {
	s := simulated.Start(b, simulated.Options{})
	body := `{"model":"judge","messages":[{"role":"user","content":"` + strings.Repeat("x", benchPrompt) + `%09d"}]}`
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(fmt.Sprintf(body, 0))) + "\r\n\r\n"
	var n atomic.Int64
	before := cpu(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", s.Addr)
		require.NoError(b, err)
		defer func() { _ = conn.Close() }()
		in := bufio.NewReader(conn)
		for pb.Next() {
			_, err := io.WriteString(conn, head+fmt.Sprintf(body, n.Add(1)))
			require.NoError(b, err)
			require.NoError(b, skim(in))
		}
	})
	b.ReportMetric(float64(b.N)/(cpu(b)-before).Seconds(), "calls/cpu-s")
}

// skim reads past one answer.
func skim(in *bufio.Reader) error {
	size := 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			size, _ = strconv.Atoi(strings.TrimSpace(v))
		}
		if line == "\r\n" {
			_, err := in.Discard(size)
			return err
		}
	}
}

// BenchmarkLocal is what a call costs in the process, with the client that
// makes it.
func BenchmarkLocal(b *testing.B) {
	for _, provider := range []string{"openai", "anthropic"} {
		b.Run(provider, func(b *testing.B) {
			k := newKit(b, simulated.Options{})
			text := strings.Repeat("x", benchPrompt)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, err := k.ask(b.Context(), provider, "judge", text+strconv.Itoa(i))
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkHandler is what the provider itself does in a call.
func BenchmarkHandler(b *testing.B) {
	p, err := simulated.New(simulated.Options{})
	require.NoError(b, err)
	over := simulated.Transport(p)
	body := `{"model":"judge","messages":[{"role":"user","content":"` + strings.Repeat("x", benchPrompt)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://x.example/v1/chat/completions", strings.NewReader(body+strconv.Itoa(i)+`"}]}`))
		require.NoError(b, err)
		r.Header.Set("Authorization", "Bearer k")
		res, err := over.RoundTrip(r)
		require.NoError(b, err)
		require.Equal(b, 200, res.StatusCode)
	}
}

var _ llm.Doer = (*simulated.Local)(nil)
