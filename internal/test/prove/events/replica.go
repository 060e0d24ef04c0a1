package events

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
)

// haste is how many times faster the replicas' clock runs, so that the lease of
// a replica that was killed ends in seconds.
const haste = 20

var thingCreated = event.Of("thing", "Thing").Event("thing.created", "A thing was created.")

// followers are those that the replicas feed.
var followers = []string{"first", "second"}

// replica is a process that writes and follows.
type replica struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// start starts a replica of this program. A replica without writers follows only.
func start(url, folder string, writers int) (*replica, error) {
	log, err := os.OpenFile(filepath.Join(folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &replica{cmd: exec.Command(program, "events", "-replica", folder, "-writers", strconv.Itoa(writers)), exited: make(chan struct{})}
	r.cmd.Env = append(os.Environ(), "ASSAY_POSTGRES_URL="+url)
	r.cmd.Stdout, r.cmd.Stderr = log, log
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.exited)
	}()
	return r, nil
}

// kill ends a replica as a power cut would.
func (r *replica) kill() error {
	select {
	case <-r.exited:
		return fmt.Errorf("a replica ended by itself: %s", r.cmd.ProcessState)
	default:
	}
	if err := r.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-r.exited
	return nil
}

// runReplica writes and follows until it is killed. It notes what was
// acknowledged and what each follower saw in files of its own, a line each, as
// soon as it is true.
func runReplica(ctx context.Context, folder string, writers int) error {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	pg, err := postgres.Open(ctx, postgres.Config{URL: secret.Text(os.Getenv("ASSAY_POSTGRES_URL")), MaxConns: writers + 8, ConnWait: connWait})
	if err != nil {
		return err
	}
	defer pg.Close()
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	log := change.New(pg, func() time.Time { return epoch.Add(haste * time.Since(epoch)) })
	var feeds []change.Follower
	for _, name := range followers {
		seen, err := note(folder, "seen-"+name)
		if err != nil {
			return err
		}
		feeds = append(feeds, change.Follower{Name: name, FromBeginning: true, Handle: func(_ context.Context, events []change.Event) error {
			ids := make([]string, len(events))
			for i, e := range events {
				ids[i] = e.ResourceID
			}
			return seen(ids...)
		}})
	}
	acked, err := note(folder, "acked")
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	running.Go(func() { _ = log.NewFeed(change.Config{Keep: 1e6 * time.Hour}, feeds...).Run(ctx) })
	org := principal.NewOrgID()
	for range writers {
		running.Go(func() {
			for ctx.Err() == nil {
				id := uuid.NewString()
				err := postgres.InTx(ctx, pg, org, func(tx postgres.Tx) error {
					if err := log.AuditTx(ctx, tx, change.Entry{Event: thingCreated, ID: id}); err != nil {
						return err
					}
					// The entry waits for the next statement: only then is there a row to hold open.
					if _, err := tx.Exec(ctx, "SELECT 1"); err != nil {
						return err
					}
					return pause(ctx, hold())
				})
				if err == nil {
					err = acked(id)
				}
				if err != nil {
					_ = pause(ctx, 100*time.Millisecond) // the database is away
				}
			}
		})
	}
	running.Wait()
	return nil
}

// hold is how long a transaction stays open: mostly a moment, now and then a
// second.
func hold() time.Duration {
	return min(time.Duration(rand.ExpFloat64()*float64(100*time.Millisecond)), time.Second)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// note returns a function that adds lines to a file of this process. A line is
// written whole or not at all, also if the process is killed.
func note(folder, name string) (func(...string) error, error) {
	f, err := os.OpenFile(filepath.Join(folder, name+"-"+strconv.Itoa(os.Getpid())), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return func(lines ...string) error {
		_, err := f.WriteString(strings.Join(lines, "\n") + "\n")
		return err
	}, nil
}
