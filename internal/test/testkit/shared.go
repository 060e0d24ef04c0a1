package testkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
)

// Tests share applications. What keeps them apart is what keeps customers
// apart: an organization of their own. A test that needs more has its own
// application, and says why.
var shared = struct{ idle, working, moving sharedKit }{
	idle: sharedKit{kind: "idle"}, working: sharedKit{kind: "working", work: true}, moving: sharedKit{kind: "moving"},
}

// Shared returns the application that tests of this process share. Nobody does its
// work: what is put into a queue stays there.
func Shared(t testing.TB) *Kit {
	t.Helper()
	return shared.idle.get(t)
}

// Working returns the application that tests of this process share if they need a worker.
func Working(t testing.TB) *Kit {
	t.Helper()
	return shared.working.get(t)
}

// Moving returns the application whose clock tests of this process move: one test
// after the other has it to itself. It has no worker.
func Moving(t testing.TB) *Kit {
	t.Helper()
	m := &shared.moving
	if holder, _ := m.holder.Load().(string); holder != "" && strings.HasPrefix(t.Name()+"/", holder+"/") {
		t.Fatalf("%s has the moving application until it ends: it waits for itself", holder)
	}
	m.turn.Lock()
	m.holder.Store(t.Name())
	t.Cleanup(func() {
		m.holder.Store("")
		m.turn.Unlock()
	})
	k := shared.moving.get(t)
	k.Clock.reset()
	return k
}

// Own returns an application of the test's own, and the reason why a shared one does not do.
func Own(t testing.TB, why string, edit ...func(*app.Config)) *Kit {
	t.Helper()
	require.NotEmpty(t, why)
	cfg := Config(t)
	for _, change := range edit {
		change(&cfg)
	}
	return NewWith(t, cfg)
}

// alone has every test boot applications of its own: what sharing could hide is found.
var alone = os.Getenv("ASSAY_TEST_OWN") != ""

// sharedKit is an application that starts on first use and ends with the process.
type sharedKit struct {
	kind   string
	work   bool
	once   sync.Once
	turn   sync.Mutex   // of the test that moves the clock
	holder atomic.Value // its name
	kit    *Kit
	owner
}

func (s *sharedKit) get(t testing.TB) *Kit {
	t.Helper()
	if alone {
		k := NewWith(t, Config(t))
		if s.work {
			k.Work(t)
		}
		return k
	}
	s.once.Do(func() {
		s.TB = t
		s.kit = NewWith(s, Config(s))
		s.kit.Clock.shared.Store(s != &shared.moving)
		if s.work {
			s.kit.Work(s)
		}
	})
	require.NotNil(t, s.kit, "the %s application of this process did not start", s.kind)
	return s.kit
}

// owner stands for the process where a test is asked for: what is to be cleaned up is
// cleaned up at its end. A failure is one of the test that came first.
type owner struct {
	testing.TB
	mu       sync.Mutex
	cleanups []func()
	failed   bool
}

func (o *owner) Cleanup(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cleanups = append(o.cleanups, f)
}

func (*owner) Context() context.Context { return context.Background() }

func (o *owner) Failed() bool { return o.failed }

// The test that came first has ended when these are called.
func (o *owner) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (o *owner) Errorf(format string, args ...any) {
	o.failed = true
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

func (o *owner) TempDir() string {
	dir, err := os.MkdirTemp("", "assay-testkit-")
	if err != nil {
		panic(err)
	}
	o.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (o *owner) end() {
	for _, f := range slices.Backward(o.cleanups) {
		f()
	}
}

// Main runs the tests of a process, and ends the applications that they shared. Their
// databases are kept if a test failed.
func Main(m *testing.M) (code int) {
	code = m.Run()
	for _, s := range []*sharedKit{&shared.idle, &shared.working, &shared.moving} {
		s.failed = code != 0
		s.end()
		if s.failed {
			code = max(code, 1)
		}
	}
	return code
}

// booted notes that an application was booted, where the file of the boots is asked for.
func booted(t testing.TB) {
	file := os.Getenv("ASSAY_TEST_BOOTS")
	if file == "" {
		return
	}
	kind := "own"
	if o, ok := t.(*sharedKit); ok {
		kind = o.kind
	}
	f, err := os.OpenFile(filepath.Clean(file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	dir, err := os.Getwd()
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, "%s %s %s\n", kind, filepath.Base(dir), t.Name())
	require.NoError(t, err)
}
