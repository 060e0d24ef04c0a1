package engines

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// load writes without pause and remembers what was acknowledged. A write that
// fails is repeated with the same Idempotency-Key until it is acknowledged.
type load struct {
	s       *system
	writers int
	pace    time.Duration // between two writes of a writer
	count   atomic.Int64
	cancel  context.CancelFunc
	done    sync.WaitGroup

	mu       sync.Mutex
	datasets map[string]string // name → id, as acknowledged
	items    map[string]bool   // input of each acknowledged item
	into     string            // the dataset that items go to
}

func newLoad(s *system, writers int) *load {
	return &load{s: s, writers: writers, datasets: map[string]string{}, items: map[string]bool{}}
}

func (l *load) acked() int64 { return l.count.Load() }

func (l *load) begin(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	for w := range l.writers {
		l.done.Go(func() {
			for n := 0; rig.Sleep(ctx, l.pace) == nil; n++ {
				l.write(ctx, w, n)
			}
		})
	}
}

// end stops the writers; each finishes the write that it is at.
func (l *load) end() {
	l.cancel()
	l.done.Wait()
}

// progress waits until some more writes are acknowledged.
func (l *load) progress(ctx context.Context, more int64) error {
	goal := l.acked() + more
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		if l.acked() >= goal {
			return nil
		}
		if err := rig.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("the load stands still at %d acknowledged writes", l.acked())
}

// write makes one dataset, or adds one item, and repeats until acknowledged.
func (l *load) write(ctx context.Context, writer, n int) {
	name := "w" + strconv.Itoa(writer) + "-" + strconv.Itoa(n)
	l.mu.Lock()
	into := l.into
	l.mu.Unlock()
	path, body := "/api/datasets", map[string]any{"name": name}
	isItem := into != "" && n%2 == 1
	if isItem {
		path, body = "/api/datasets/"+into+"/items", map[string]any{"input": name}
	}
	var answer struct {
		ID string `json:"id"`
	}
	// The write that is under way when the load ends is still seen through.
	for limit := time.Now().Add(2 * patience); ; time.Sleep(20 * time.Millisecond) {
		status, err := l.call(context.WithoutCancel(ctx), http.MethodPost, path, name, body, &answer)
		if err == nil && status == http.StatusCreated {
			break
		}
		if time.Now().After(limit) {
			return // never acknowledged, so nothing is promised
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if isItem {
		l.items[name] = true
	} else {
		l.datasets[name] = answer.ID
		if l.into == "" {
			l.into = answer.ID
		}
	}
	l.count.Add(1)
}

// verify reads everything back: what is missing was lost, what is there more
// than once was duplicated.
func (l *load) verify(ctx context.Context) (lost, duplicated int, err error) {
	names := map[string]int{}
	for cursor := ""; ; {
		var page struct {
			Datasets []struct {
				Name string `json:"name"`
			} `json:"datasets"`
			HasMore    bool   `json:"has_more"`
			NextCursor string `json:"next_cursor"`
		}
		if err := l.get(ctx, "/api/datasets?limit=1000&cursor="+cursor, &page); err != nil {
			return 0, 0, err
		}
		for _, d := range page.Datasets {
			names[d.Name]++
		}
		if !page.HasMore {
			break
		}
		cursor = page.NextCursor
	}
	inputs := map[string]int{}
	for cursor := ""; ; {
		var page struct {
			Items []struct {
				Input string `json:"input"`
			} `json:"items"`
			HasMore    bool   `json:"has_more"`
			NextCursor string `json:"next_cursor"`
		}
		if err := l.get(ctx, "/api/datasets/"+l.into+"/items?limit=1000&cursor="+cursor, &page); err != nil {
			return 0, 0, err
		}
		for _, i := range page.Items {
			inputs[i.Input]++
		}
		if !page.HasMore {
			break
		}
		cursor = page.NextCursor
	}
	tally := func(n int) {
		switch {
		case n == 0:
			lost++
		case n > 1:
			duplicated++
		}
	}
	for name := range l.datasets {
		tally(names[name])
	}
	for input := range l.items {
		tally(inputs[input])
	}
	return lost, duplicated, nil
}

// control removes one dataset and makes another twice: a check that calls this
// a success could not fail at all.
func (l *load) control(ctx context.Context) error {
	var victim, twin string
	for name, id := range l.datasets {
		switch {
		case id == l.into:
		case victim == "":
			victim = name
		case twin == "":
			twin = name
		}
	}
	if status, err := l.call(ctx, http.MethodDelete, "/api/datasets/"+l.datasets[victim], "", nil, nil); err != nil || status != http.StatusOK {
		return fmt.Errorf("control: delete: status %d: %w", status, err)
	}
	if status, err := l.call(ctx, http.MethodPost, "/api/datasets", "", map[string]any{"name": twin}, nil); err != nil || status != http.StatusCreated {
		return fmt.Errorf("control: create: status %d: %w", status, err)
	}
	lost, duplicated, err := l.verify(ctx)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	if lost != 1 || duplicated != 1 {
		return fmt.Errorf("control: one write was removed and one doubled, and the check counts lost %d duplicated %d", lost, duplicated)
	}
	return nil
}

func (l *load) get(ctx context.Context, path string, out any) error {
	status, err := l.call(ctx, http.MethodGet, path, "", nil, out)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", path, status)
	}
	return nil
}

func (l *load) call(ctx context.Context, method, path, key string, in, out any) (int, error) {
	status, answer, err := l.s.Call(ctx, l.s.org, method, path, key, in)
	if err != nil || status >= http.StatusBadRequest || out == nil {
		return status, err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return 0, errors.Join(errors.New("the answer was cut"), err)
	}
	return status, nil
}
