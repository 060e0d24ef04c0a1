package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/client/itemfile"
)

// What one request of an import has at most: as many items as the server takes, and
// far fewer bytes.
const (
	importItems = 1000
	importBytes = 8 << 20
)

// Imported is what became of a file so far.
type Imported struct {
	Lines   int // that were read
	Created int
	Skipped int // whose content the dataset has already
	Refused []RefusedLine
}

// RefusedLine is a line that is not in the dataset, and why.
type RefusedLine struct {
	Number int
	Reason string
}

// String names the line.
func (r RefusedLine) String() string { return fmt.Sprintf("line %d: %s", r.Number, r.Reason) }

// ImportItems adds the items of a file to a dataset. It stops before the request that
// would have a line that is refused, unless it is to go on; repeating an import is safe, as
// content that the dataset has is skipped. While the server stores some lines the
// next are read. Tell is called after each request.
func (c *Client) ImportItems(ctx context.Context, dataset string, from *itemfile.Reader, goOn bool, tell func(Imported)) (Imported, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches := make(chan batch)
	go func() {
		defer close(batches)
		for {
			b := readBatch(from)
			select {
			case batches <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
		}
	}()
	var done Imported
	for b := range batches {
		if err := c.sendBatch(ctx, dataset, b, goOn, &done); err != nil {
			return done, err
		}
		tell(done)
		switch {
		case b.err != nil && !errors.Is(b.err, io.EOF):
			return done, b.err
		case len(done.Refused) > 0 && !goOn:
			return done, nil
		}
	}
	return done, ctx.Err()
}

// batch is lines of a file as one request.
type batch struct {
	body    []byte
	numbers []int // of the lines that are items
	lines   int
	refused []RefusedLine
	err     error // the end of the file, or why it cannot be read on
}

func readBatch(from *itemfile.Reader) batch {
	b := batch{body: []byte(`{"items":[`)}
	for len(b.numbers) < importItems && len(b.body) < importBytes {
		line, err := from.Next()
		if err != nil {
			b.err = err
			break
		}
		b.lines++
		if line.Err != nil {
			b.refused = append(b.refused, RefusedLine{line.Number, line.Err.Error()})
			continue
		}
		if len(b.numbers) > 0 {
			b.body = append(b.body, ',')
		}
		b.body = append(b.body, line.Item...)
		b.numbers = append(b.numbers, line.Number)
	}
	b.body = append(b.body, `]}`...)
	return b
}

// sendBatch adds the items of a batch, all of them or, if it is to go on, those that
// nobody refuses.
func (c *Client) sendBatch(ctx context.Context, dataset string, b batch, goOn bool, done *Imported) error {
	done.Lines += b.lines
	done.Refused = append(done.Refused, b.refused...)
	for len(b.numbers) > 0 && (goOn || len(done.Refused) == 0) {
		added, err := c.addItems(ctx, dataset, b.body)
		if err == nil {
			done.Created += int(added.Created)
			done.Skipped += len(added.Skipped)
			return nil
		}
		wrong := refusedItems(err)
		if len(wrong) == 0 {
			return err
		}
		if b, err = b.without(wrong, done); err != nil {
			return err
		}
	}
	return nil
}

var itemPath = regexp.MustCompile(`^/items/(\d+)(/.*)?$`)

// refusedItems are the items that the server does not take, by their places, with
// why.
func refusedItems(err error) map[int]string {
	var refused *Error
	if !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
		return nil
	}
	wrong := map[int]string{}
	for _, f := range refused.Fault.Fields {
		m := itemPath.FindStringSubmatch(f.Path)
		if m == nil {
			return nil // something else is wrong too
		}
		at, _ := strconv.Atoi(m[1])
		if wrong[at] == "" {
			wrong[at] = plain(m[2] + " " + f.Message)
		}
	}
	return wrong
}

// without is the batch without some of its items.
func (b batch) without(wrong map[int]string, done *Imported) (batch, error) {
	var sent struct {
		Items []jsontext.Value `json:"items"`
	}
	if err := json.Unmarshal(b.body, &sent); err != nil {
		return b, err
	}
	left := batch{body: []byte(`{"items":[`)}
	for i, item := range sent.Items {
		if reason, refused := wrong[i]; refused {
			done.Refused = append(done.Refused, RefusedLine{b.numbers[i], reason})
			continue
		}
		if len(left.numbers) > 0 {
			left.body = append(left.body, ',')
		}
		left.body = append(left.body, item...)
		left.numbers = append(left.numbers, b.numbers[i])
	}
	left.body = append(left.body, `]}`...)
	return left, nil
}

// importPatience is how long an import waits for a server that is busy or away.
const importPatience = 2 * time.Minute

// addItems sends one request, again while the server is busy: content that it has
// already is skipped, so that nothing is added twice.
func (c *Client) addItems(ctx context.Context, dataset string, body []byte) (out api.AddedDatasetItems, err error) {
	wait := 200 * time.Millisecond
	patience, cancel := context.WithTimeout(ctx, importPatience)
	defer cancel()
	for ; ; wait = min(2*wait, 5*time.Second) {
		k := c.call()
		err = k.Send(ctx, http.MethodPost, "/api/datasets/"+url.PathEscape(dataset)+"/items", jsontext.Value(body), &out, nil)
		var refused *Error
		busy := err != nil && (!errors.As(err, &refused) || refused.Status == http.StatusTooManyRequests || refused.Status >= http.StatusInternalServerError)
		if !busy {
			return out, err
		}
		if refused != nil {
			wait = max(wait, refused.RetryAfter)
		}
		select {
		case <-time.After(wait):
		case <-patience.Done():
			return out, err
		}
	}
}

// ExportItems writes the items of a dataset, or of a frozen version if one is
// given, the newest first. Tell is called after each page.
func (c *Client) ExportItems(ctx context.Context, dataset string, version int, to *itemfile.Writer, tell func(items int)) (int, error) {
	query := url.Values{"limit": {strconv.Itoa(importItems)}}
	if version > 0 {
		query.Set("datasetVersion", strconv.Itoa(version))
	}
	items := 0
	for {
		var page itemPage
		if _, err := c.get(ctx, "/api/datasets/"+url.PathEscape(dataset)+"/items", query, &page); err != nil {
			return items, err
		}
		for _, i := range page.Items {
			if err := to.Write(i.file()); err != nil {
				return items, err
			}
		}
		items += len(page.Items)
		tell(items)
		if !page.HasMore {
			return items, to.Close()
		}
		query.Set("cursor", page.NextCursor)
	}
}

// itemPage is a page of items whose values stay as they were written: a number has
// all its digits.
type itemPage struct {
	Items      []pageItem `json:"items"`
	HasMore    bool       `json:"has_more"`
	NextCursor string     `json:"next_cursor"`
}

type pageItem struct {
	itemfile.Item
	Source *api.DatasetItemSource `json:"source"`
}

func (i pageItem) file() itemfile.Item {
	out := i.Item
	for _, v := range []*jsontext.Value{&out.ExpectedOutput, &out.Output, &out.Context, &out.Messages, &out.Tools, &out.Labels} {
		if v.Kind() == 'n' {
			*v = nil
		}
	}
	if i.Source != nil {
		out.SourceType, out.SourceID = i.Source.Type, api.Value(i.Source.ID)
	}
	return out
}
