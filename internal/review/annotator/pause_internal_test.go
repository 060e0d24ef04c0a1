package annotator

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/review/label"
)

// Measuring a task can take a minute of a processor. Each of its parts lets others in, and
// ends when the request does.
func TestMeasuringCanBeInterrupted(t *testing.T) {
	t.Parallel()
	labels := []string{"a", "b", "c"}
	task := annotation.Task{ID: 1, Type: label.Classification, Schema: label.Schema{Fields: []label.Field{{Key: "k", Type: label.FieldChoice, Options: labels}}}}
	known := annotation.Known{Gold: map[int64]string{0: "a"}}
	keys, people := map[uuid.UUID]string{}, make([]uuid.UUID, 6)
	for i := range people {
		people[i] = uuid.New()
		keys[people[i]] = fmt.Sprint("person ", i)
	}
	var all []annotation.Vote
	for item := range int64(120) {
		for i, who := range people {
			all = append(all, annotation.Vote{Item: item, Person: who, Status: annotation.ItemAnnotated, Label: labels[(int(item)+i/3)%3]})
		}
	}
	scale, why := scaleOf(known, task, all)
	require.Empty(t, why)
	measure := func(pause func() error) error {
		p := Panel{Task: task, all: all, keys: keys, Gold: &goldFound{}}
		return p.measure(principal.OrgID{}, scale, known, pause)
	}

	pauses := 0
	require.NoError(t, measure(func() error { pauses++; return nil }))
	require.Greater(t, pauses, 1000, "draws of the bootstrap, pairs of people, rounds of the model")
	over := errors.New("the request is over")
	for at := 0; at < pauses; at += pauses / 50 {
		n := 0
		require.ErrorIs(t, measure(func() error {
			if n++; n > at {
				return over
			}
			return nil
		}), over)
		require.Equal(t, at+1, n, "nothing goes on after it")
	}
}
