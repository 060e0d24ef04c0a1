package telemetry_test

import (
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/testkit"
)

// tables is a test's own look at what is stored for one organization.
type tables struct {
	testing.TB
	db  *clickhouse.DB
	ch  driver.Conn
	org uuid.UUID
}

func stored(t testing.TB, cfg clickhouse.Config, of *testkit.Client) tables {
	t.Helper()
	db, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return tables{TB: t, db: db, ch: db.Writer(), org: uuid.UUID(of.Org)}
}

// spans counts the spans of a trace as readers count them: each once, and the
// trace's own row not at all.
func (s tables) spans(trace string) int {
	return s.count("SELECT count() FROM spans FINAL WHERE org_id = ? AND trace_id = unhex(?) AND span_id != toFixedString('', 8)", trace)
}

// round removes from the disks what is hidden.
func (s tables) round() {
	s.Helper()
	require.NoError(s, s.db.Eraser().Drop(s.Context()))
}

// rows counts everything that is stored of a trace, also what is hidden.
func (s tables) rows(trace string) int {
	n := 0
	for _, table := range []string{"spans", "span_payloads", "span_events", "traces", "trace_starts"} {
		n += s.count("SELECT count() FROM "+table+" WHERE org_id = ? AND trace_id = unhex(?) SETTINGS apply_deleted_mask = 0", trace)
	}
	return n + s.count("SELECT count() FROM scores WHERE org_id = ? AND subject = ? SETTINGS apply_deleted_mask = 0", trace)
}

// seen counts what a reader could find of a trace.
func (s tables) seen(trace string) int {
	n := 0
	for _, table := range []string{"spans", "span_payloads", "span_events", "traces", "trace_starts"} {
		n += s.count("SELECT count() FROM "+table+" WHERE org_id = ? AND trace_id = unhex(?)", trace)
	}
	return n + s.feedback(trace)
}

// feedback counts what a reader could find of what was said about a trace.
func (s tables) feedback(trace string) int {
	return s.count("SELECT count() FROM scores FINAL WHERE org_id = ? AND subject = ?", trace)
}

func (s tables) count(query, trace string) int {
	s.Helper()
	var n uint64
	require.NoError(s, s.ch.QueryRow(s.Context(), query, s.org, trace).Scan(&n), query)
	return int(n)
}

// value reads one text of a span's newest version.
func (s tables) value(trace, span, expression string) string {
	s.Helper()
	return s.text("SELECT toString("+expression+") FROM spans WHERE org_id = ? AND trace_id = unhex(?) AND span_id = unhex(?) ORDER BY version DESC LIMIT 1", trace, span)
}

// payload reads one text of a span's newest payload.
func (s tables) payload(trace, span, expression string) string {
	s.Helper()
	return s.text("SELECT toString("+expression+") FROM span_payloads WHERE org_id = ? AND trace_id = unhex(?) AND span_id = unhex(?) ORDER BY version DESC LIMIT 1", trace, span)
}

func (s tables) text(query, trace, span string) string {
	s.Helper()
	var text string
	require.NoError(s, s.ch.QueryRow(s.Context(), query, s.org, trace, span).Scan(&text), query)
	return text
}

// noSpan is the id of a trace's own row.
const noSpan = "0000000000000000"

// at is a time near the present, as it is written.
func at(offset time.Duration) string {
	return time.Now().Add(offset).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// span is a span that has ended; more fields replace or add.
func span(name string, more map[string]any) map[string]any {
	s := map[string]any{"spanId": testkit.NewSpanID(), "name": name, "startTime": at(-time.Minute), "endTime": at(-30 * time.Second)}
	for k, v := range more {
		s[k] = v
		if v == nil {
			delete(s, k)
		}
	}
	return s
}

// wire stands between the application and a database, and can be cut.
type wire struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

// wired boots an application that reaches ClickHouse over a wire. The
// configuration that is returned beside it goes around the wire.
func wired(t testing.TB) (*testkit.Kit, clickhouse.Config, *wire) {
	t.Helper()
	cfg := testkit.Config(t)
	direct := cfg.ClickHouse
	w := newWire(t, &cfg.ClickHouse.URL, &cfg.ClickHouse.ReaderURL)
	return testkit.NewWith(t, cfg), direct, w
}

// newWire puts a wire before the server of some URLs, which then lead over it.
func newWire(t testing.TB, urls ...*secret.Text) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{listener: l}
	for _, text := range urls {
		u, err := url.Parse(text.Reveal())
		require.NoError(t, err)
		w.target, u.Host = u.Host, l.Addr().String()
		*text = secret.Text(u.String())
	}
	t.Cleanup(func() { w.set(true); _ = l.Close() })
	go w.serve()
	return w
}

func (w *wire) serve() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		down := w.down
		w.mu.Unlock()
		if down {
			_ = client.Close()
			continue
		}
		server, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, client, server)
		w.mu.Unlock()
		go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
		go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
	}
}

// set cuts the wire, or mends it.
func (w *wire) set(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	if !down {
		return
	}
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

// millis is a time as ClickHouse reads it.
func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
