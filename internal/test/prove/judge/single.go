package judge

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/command/client/api"
)

// single is a case that is judged by a request of its own.
type single struct {
	load   *load
	org    tenant
	result api.JudgeResult
	unit
}

// ask judges the case, and asks again with the same key, as a client does that lost
// the answer.
func (o *single) ask(ctx context.Context) error {
	s := o.load.s
	body := map[string]any{"configId": o.org.single, "input": o.input(), "output": o.output()}
	key := s.Removed + o.name
	if err := s.Post(ctx, o.org.Organization, "/api/llm-judge/evaluate", key, body, &o.result); err != nil {
		return err
	}
	var again api.JudgeResult
	if err := s.Post(ctx, o.org.Organization, "/api/llm-judge/evaluate", key, body, &again); err != nil {
		return err
	}
	o.load.count(func(v *verdict) {
		if again.ID != o.result.ID {
			v.doubled++
			v.Example("%s is result %s and, asked again, %s", o.name, o.result.ID, again.ID)
		}
		v.hold(o.unit, o.result)
	})
	return nil
}

// find reads the result back.
func (o *single) find(ctx context.Context) {
	var kept api.JudgeResult
	err := o.load.s.Insist(ctx, o.org.Organization, "GET", "/api/llm-judge/results/"+o.result.ID, "", nil, &kept)
	o.load.count(func(v *verdict) {
		v.singles++
		if err != nil || kept.Status != o.result.Status || fmt.Sprint(kept.Input) != o.input() {
			v.missing++
			v.Example("%s was result %s and cannot be read as it was: %v", o.name, o.result.ID, err)
			return
		}
		v.verdicts++
	})
}
