package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/assayhq/assay/internal/command/client/api"
)

// Evaluation is an evaluation as commands name it.
type Evaluation struct{ ID, Name, Status string }

const (
	statusArchived = "archived"
	// maxName is the longest name that an evaluation can have.
	maxName = 200
	// alike is how many names an error lists.
	alike = 5
)

var number = regexp.MustCompile(`^[1-9][0-9]{0,15}$`)

// FindEvaluation returns the evaluation with this id, or the only one with this
// name; one that is not archived wins over those that are. Upper and lower case
// matter only where names differ in nothing else. A part of a name finds
// nothing: what is found must not change when somebody adds an evaluation.
func (c *Client) FindEvaluation(ctx context.Context, name string) (Evaluation, error) {
	name = strings.TrimSpace(name)
	if number.MatchString(name) {
		found, err := c.call().GetEvaluation(ctx, name)
		e := Evaluation{found.ID, found.Name, found.Status}
		var refused *Error
		if err == nil && e.ID == "" {
			err = fmt.Errorf("%s: %w", c.base, errFormat)
		}
		if err == nil || !errors.As(err, &refused) || refused.Status != http.StatusNotFound || refused.Fault.Reason == "unknown_route" {
			return e, err
		}
	}
	if name == "" || len([]rune(name)) > maxName {
		return Evaluation{}, mistake("%q is not an evaluation: use its ID or name", plain(name))
	}
	listed, err := find(ctx, c, name, func(q url.Values) ([]api.EvaluationSummary, *string, error) {
		list, err := c.call().ListEvaluations(ctx, q)
		return list.Evaluations, list.NextCursor, err
	})
	if err != nil {
		return Evaluation{}, err
	}
	hits := make([]Evaluation, len(listed))
	for i, e := range listed {
		hits[i] = Evaluation{e.ID, e.Name, e.Status}
	}
	for _, same := range []func(Evaluation) bool{
		func(e Evaluation) bool { return e.Name == name && e.Status != statusArchived },
		func(e Evaluation) bool { return strings.EqualFold(e.Name, name) && e.Status != statusArchived },
		func(e Evaluation) bool { return strings.EqualFold(e.Name, name) },
	} {
		var found []Evaluation
		for _, e := range hits {
			if same(e) {
				found = append(found, e)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Evaluation{}, mistake("%s are named %q: use an ID, such as %s", several(len(found)), plain(name), found[0].ID)
		}
	}
	return Evaluation{}, mistake("evaluation %q not found%s", plain(name), near(hits))
}

func several(n int) string { return fmt.Sprintf("%d evaluations", n) }

// near names evaluations whose names hold what was asked for.
func near(hits []Evaluation) string {
	var names []string
	for _, e := range hits {
		if e.Status != statusArchived && len(names) < alike {
			names = append(names, fmt.Sprintf("%q (%s)", plain(e.Name), e.ID))
		}
	}
	if len(names) == 0 {
		return ": use its ID or name; `assay evaluation list` shows them"
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}
