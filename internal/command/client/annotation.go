package client

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/command/client/api"
)

// FindAnnotationTask returns the annotation task with this id, or the only one with
// this name.
func (c *Client) FindAnnotationTask(ctx context.Context, name string) (api.AnnotationTask, error) {
	name = strings.TrimSpace(name)
	if number.MatchString(name) {
		t, err := c.call().GetAnnotationTask(ctx, name)
		if !notFound(err) {
			return t, err
		}
	}
	all, err := find(ctx, c, name, func(q url.Values) ([]api.AnnotationTask, *string, error) {
		list, err := c.call().ListAnnotationTasks(ctx, q)
		return list.Tasks, list.NextCursor, err
	})
	if err != nil {
		return api.AnnotationTask{}, err
	}
	return only("annotation task", name, all, func(t api.AnnotationTask) (string, string) { return strconv.FormatInt(t.ID, 10), t.Name })
}
