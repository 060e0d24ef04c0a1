package ingest

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"time"
)

// outcome is what a sender knows of a batch.
type outcome byte

const (
	intended outcome = iota // it may be stored, whole or in part, or not at all
	acked                   // it is stored and can be read
	deferred                // it is kept and will be read
)

var outcomeNames = map[string]outcome{"intend": intended, "ack": acked, "defer": deferred}

// entry is one batch in an oracle.
type entry struct {
	spans   int
	outcome outcome
	during  int32 // the fault that was at work when it was acknowledged
}

// oracle is what one sender knows, in memory and in a file. What is about to be
// sent is noted before it is sent, and an acknowledgement before anything else
// is done.
type oracle struct {
	mu      sync.Mutex
	entries []entry
	file    *os.File
}

func newOracle(path string) (*oracle, error) {
	f, err := os.Create(path)
	return &oracle{file: f}, err
}

// intend notes the next batch.
func (o *oracle) intend(b batch) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.entries = append(o.entries, entry{spans: b.spans})
	return o.note("intend", b.number)
}

// tell notes what became of a batch.
func (o *oracle) tell(b batch, isDeferred bool, during int32) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := &o.entries[b.number]
	e.during = during
	if e.outcome = acked; isDeferred {
		e.outcome = deferred
		return o.note("defer", b.number)
	}
	return o.note("ack", b.number)
}

func (o *oracle) note(what string, number uint32) error {
	_, err := fmt.Fprintf(o.file, "%s %d %d\n", what, number, time.Now().UnixMicro())
	return err
}

// at returns a batch's entry.
func (o *oracle) at(number uint32) (entry, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if int(number) >= len(o.entries) {
		return entry{}, false
	}
	return o.entries[number], true
}

// check compares memory with the file: an oracle that contradicts itself can
// accuse nobody.
func (o *oracle) check() error {
	f, err := os.Open(o.file.Name())
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	seen := make([]outcome, 0, len(o.entries))
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var what string
		var number int
		if _, err := fmt.Sscan(lines.Text(), &what, &number); err != nil {
			return fmt.Errorf("oracle %s: %w", f.Name(), err)
		}
		if what == "intend" {
			seen = append(seen, intended)
		}
		seen[number] = outcomeNames[what]
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(seen) != len(o.entries) {
		return fmt.Errorf("oracle %s has %d batches and memory %d", f.Name(), len(seen), len(o.entries))
	}
	for i, e := range o.entries {
		if seen[i] != e.outcome {
			return fmt.Errorf("oracle %s and memory differ about batch %d", f.Name(), i)
		}
	}
	return nil
}

func (o *oracle) close() error { return o.file.Close() }
