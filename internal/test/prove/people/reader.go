package people

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// operation is one that reads, as the API document lists it.
type operation struct {
	path string
	tag  string
	asks []string // names of its query parameters
}

// areas are the tags of operations that people's words could come through.
var areas = []string{"Annotations", "Adjudication", "Audit log"}

// readOperations reads the API document: all operations that read without naming
// something, and those of the areas.
func readOperations() (all []operation, err error) {
	file, err := os.ReadFile("api/openapi.json")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Paths map[string]struct {
			Get *struct {
				Tags       []string `json:"tags"`
				Parameters []struct {
					Name string `json:"name"`
					In   string `json:"in"`
				} `json:"parameters"`
				Responses map[string]struct {
					Content map[string]any `json:"content"`
				} `json:"responses"`
			} `json:"get"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(file, &doc); err != nil {
		return nil, err
	}
	found := map[string]int{}
	for path, methods := range doc.Paths {
		get := methods.Get
		if get == nil || len(get.Tags) == 0 || get.Responses["200"].Content["text/event-stream"] != nil {
			continue
		}
		o := operation{path: path, tag: get.Tags[0]}
		for _, p := range get.Parameters {
			if p.In == "query" {
				o.asks = append(o.asks, p.Name)
			}
		}
		if strings.Contains(path, "{") && !slices.Contains(areas, o.tag) {
			continue
		}
		found[o.tag]++
		all = append(all, o)
	}
	for _, a := range areas {
		if found[a] == 0 {
			return nil, fmt.Errorf("the API document has no operation that reads with the tag %q", a)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// paths are the requests that an operation stands for: without filters, and with each
// filter that leads to what people said.
func (l *load) paths(o operation, annotation int64, r *rand.Rand) ([]string, error) {
	who := l.s.annotators[r.IntN(len(l.s.annotators))].member
	of := strings.NewReplacer("/tasks/{id}", fmt.Sprintf("/tasks/%d", l.task), "/annotations/{id}", fmt.Sprintf("/annotations/%d", annotation),
		"/adjudication/items/{id}", fmt.Sprintf("/adjudication/items/%d", 1+r.IntN(200)), "/ground-truths/{id}", "/ground-truths/1", "/datasets/{id}/items/{itemId}", "/datasets/1/items/1")
	at := of.Replace(o.path)
	if strings.Contains(at, "{") {
		return nil, fmt.Errorf("%s: the proof does not know which id to read; add one in reader.go", o.path)
	}
	filters := map[string]string{
		"taskId": strconv.FormatInt(l.task, 10), "annotatorId": who, "annotated": "partial", "resourceType": "annotation", "resourceId": strconv.FormatInt(annotation, 10), "userId": who,
		"offset": strconv.Itoa(r.IntN(max(1, l.items))),
	}
	all := []string{at}
	for name, value := range filters {
		if slices.Contains(o.asks, name) {
			q := url.Values{name: {value}}
			if slices.Contains(o.asks, "limit") {
				q.Set("limit", "200")
			}
			all = append(all, at+"?"+q.Encode())
		}
	}
	return all, nil
}

// readers are who looks at what they may not see: an annotator, an administrator, and
// the organization's own key.
func (l *load) readers() []person {
	return []person{l.s.bystander, l.s.adjudicators[0], {Organization: l.s.org, number: -1}}
}

// read calls every operation again and again, until the work is over.
func (l *load) read(ctx context.Context, p person, r *rand.Rand) error {
	for !l.over.Load() {
		if err := l.look(ctx, p, r); err != nil {
			return err
		}
	}
	return nil
}

// look calls every operation once. A server that is away is asked again next time.
func (l *load) look(ctx context.Context, p person, r *rand.Rand) error {
	for _, o := range l.s.operations {
		if l.over.Load() {
			return nil
		}
		_, annotation := l.progress()
		paths, err := l.paths(o, annotation, r)
		if err != nil {
			return err
		}
		for _, path := range paths {
			_, shown, err := l.s.Call(ctx, p.Organization, http.MethodGet, path, "", nil)
			if err == nil {
				l.search(p.number, "GET "+path, shown)
			}
			if err := errors.Join(ctx.Err(), rig.Sleep(ctx, l.gaze)); err != nil {
				return err
			}
		}
	}
	return nil
}
