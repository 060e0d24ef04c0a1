package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
)

// Call makes one request through the generated methods, and returns the answer as
// the server wrote it.
func (c *Client) Call(fn func(api.Client) error) (jsontext.Value, error) {
	k := c.call()
	err := fn(k.Client)
	return k.raw, err
}

// Clock makes one request, and returns the time on the server's clock.
func (c *Client) Clock(fn func(api.Client) error) (Answer, error) {
	k := c.call()
	err := fn(k.Client)
	return k.answer, err
}

// FindDataset returns the dataset with this id, or the only one with this name.
func (c *Client) FindDataset(ctx context.Context, name string) (api.Dataset, jsontext.Value, error) {
	name = strings.TrimSpace(name)
	k := c.call()
	if number.MatchString(name) {
		d, err := k.GetDataset(ctx, name)
		if !notFound(err) {
			return d, k.raw, err
		}
	}
	all, err := find(ctx, c, name, func(q url.Values) ([]api.Dataset, *string, error) {
		list, err := c.call().ListDatasets(ctx, q)
		return list.Datasets, list.NextCursor, err
	})
	if err != nil {
		return api.Dataset{}, nil, err
	}
	d, err := only("dataset", name, all, func(d api.Dataset) (string, string) { return d.ID, d.Name })
	if err != nil {
		return api.Dataset{}, nil, err
	}
	d, err = k.GetDataset(ctx, d.ID)
	return d, k.raw, err
}

// FindProviderKey returns the provider key with this id, or the only one with this
// name.
func (c *Client) FindProviderKey(ctx context.Context, name string) (api.ProviderKey, jsontext.Value, error) {
	name = strings.TrimSpace(name)
	k := c.call()
	if number.MatchString(name) {
		p, err := k.GetProviderKey(ctx, name)
		if !notFound(err) {
			return p, k.raw, err
		}
	}
	all, err := find(ctx, c, name, func(q url.Values) ([]api.ProviderKey, *string, error) {
		list, err := c.call().ListProviderKeys(ctx, q)
		return list.ProviderKeys, list.NextCursor, err
	})
	if err != nil {
		return api.ProviderKey{}, nil, err
	}
	id := func(p api.ProviderKey) (string, string) { return strconv.FormatInt(p.ID, 10), p.Name }
	p, err := only("provider key", name, all, id)
	if err != nil {
		return api.ProviderKey{}, nil, err
	}
	p, err = k.GetProviderKey(ctx, strconv.FormatInt(p.ID, 10))
	return p, k.raw, err
}

// notFound reports whether the server has no such thing.
func notFound(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound && refused.Fault.Reason != "unknown_route" && refused.Fault.Message != ""
}

// find returns everything whose name contains a text.
func find[T any](ctx context.Context, c *Client, name string, page func(url.Values) ([]T, *string, error)) (all []T, err error) {
	q := url.Values{"search": {name}, "limit": {"1000"}}
	if name == "" || len([]rune(name)) > maxName {
		return nil, nil
	}
	for {
		some, next, err := page(q)
		if err == nil && some == nil {
			err = fmt.Errorf("%s: %w", c.base, errFormat)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if next == nil || ctx.Err() != nil {
			return all, ctx.Err()
		}
		q.Set("cursor", *next)
	}
}

// only returns the only one with a name. Upper and lower case matter only where
// names differ in nothing else.
func only[T any](noun, name string, all []T, of func(T) (id, name string)) (T, error) {
	var none T
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		var found []T
		for _, one := range all {
			if _, its := of(one); same(its, name) {
				found = append(found, one)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			id, _ := of(found[0])
			return none, mistake("%d %ss are named %q: use an ID, such as %s", len(found), noun, plain(name), id)
		}
	}
	var names []string
	for _, one := range all[:min(len(all), alike)] {
		id, its := of(one)
		names = append(names, fmt.Sprintf("%q (%s)", plain(its), id))
	}
	if len(names) > 0 {
		return none, mistake("%s %q not found; did you mean %s?", noun, plain(name), strings.Join(names, ", "))
	}
	command := strings.Fields(noun)[0]
	if command == "annotation" {
		command = "annotate"
	}
	return none, mistake("%s %q not found: use its ID or name; `assay %s list` shows them", noun, plain(name), command)
}

// Pin makes a run the one that an evaluation is measured against over many
// releases. An empty run unpins it.
func (c *Client) Pin(ctx context.Context, evaluation, run string) (api.Evaluation, jsontext.Value, error) {
	var id any
	if run != "" {
		id = run
	}
	k := c.call()
	var out api.Evaluation
	err := k.Send(ctx, http.MethodPatch, "/api/evaluations/"+url.PathEscape(evaluation), map[string]any{"baselineRunId": id}, &out, nil)
	return out, k.raw, err
}

// Runs returns a page of the runs of an evaluation, newest first, and the page as
// the server wrote it.
func (c *Client) Runs(ctx context.Context, evaluation string, q url.Values) (api.RunList, jsontext.Value, error) {
	k := c.call()
	list, err := k.ListEvaluationRuns(ctx, evaluation, q)
	if err == nil && list.Runs == nil {
		err = fmt.Errorf("%s: %w", c.base, errFormat)
	}
	return list, k.raw, err
}

// Metrics are the names of an evaluation's metrics.
func (c *Client) Metrics(ctx context.Context, evaluation string) ([]string, error) {
	e, err := c.call().GetEvaluation(ctx, evaluation)
	return e.MetricNames, err
}
