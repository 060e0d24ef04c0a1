package devenv

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Ahead makes things before they are asked for, so that a test does not wait
// for its databases while the one before it runs.
type Ahead struct {
	// Make makes one thing and returns its name.
	Make  func(context.Context) (string, error)
	ready chan string
}

// NewAhead keeps up to depth things ready.
func NewAhead(depth int, create func(context.Context) (string, error)) *Ahead {
	return &Ahead{Make: create, ready: make(chan string, depth)}
}

// Take returns a thing that is ready, or makes one, and begins to make the
// next.
func (a *Ahead) Take(ctx context.Context) (name string, err error) {
	select {
	case name = <-a.ready:
	default:
		if name, err = a.Make(ctx); err != nil {
			return "", err
		}
	}
	go func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if next, err := a.Make(limit); err == nil {
			select {
			case a.ready <- next:
			default:
				// Another goroutine was quicker; Orphan finds what is left over.
			}
		}
	}()
	return name, nil
}

// prefix begins the name of what is made ahead and not yet taken.
const prefix = "assay_ahead_"

// AheadName names a thing after the process that makes it.
func AheadName(random string) string {
	return prefix + strconv.Itoa(os.Getpid()) + "_" + random
}

// Orphan reports whether a name was made ahead by a process that is gone.
func Orphan(name string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return false
	}
	owner, _, _ := strings.Cut(rest, "_")
	pid, err := strconv.Atoi(owner)
	return err == nil && syscall.Kill(pid, 0) != nil
}
