package chunk

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/platform/admission"
)

// readBatch is how many items are read at once, unless they fill a page.
const readBatch = 500

// job is a unit with its item.
type job struct {
	result.Key
	content dataset.Item
}

// name is that of a unit within its run, under which deaths are stored.
func (j job) name() string { return fmt.Sprintf("%d/%d", j.Item, j.Epoch) }

// page is units with their items, and the bytes that these take of the process's
// budget until the units are handed out.
type page struct {
	jobs  []job
	bytes int
}

// read reads items, a page at a time, until there are none or the run cannot go
// on.
func (e *execution) read(ctx context.Context, left []result.Key, pages chan<- page) error {
	for len(left) > 0 && !e.ended() {
		ids := make([]int64, min(len(left), readBatch))
		for i := range ids {
			ids[i] = left[i].Item
		}
		items, read, err := e.Datasets.ItemsByID(ctx, e.Run.Org, e.Dataset, e.Version, ids)
		if err != nil {
			return err
		}
		next := page{jobs: make([]job, read)}
		for i, u := range left[:read] {
			item, ok := items[u.Item]
			if !ok {
				return fmt.Errorf("version %d of dataset %d has lost item %d", e.Version, e.Dataset, u.Item)
			}
			next.jobs[i] = job{u, item}
			next.bytes += item.Content.Bytes()
		}
		if err := admission.From(ctx).Wait(ctx, next.bytes); err != nil {
			return err
		}
		left = left[read:]
		select {
		case pages <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// handOut gives the units of pages to whoever works next.
func handOut(ctx context.Context, pages <-chan page, work chan<- job) error {
	for next := range pages {
		for _, j := range next.jobs {
			select {
			case work <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		admission.From(ctx).Give(next.bytes)
	}
	return nil
}
