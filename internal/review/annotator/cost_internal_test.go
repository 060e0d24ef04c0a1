package annotator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/review/label"
)

// BenchmarkPanel measures tasks at the limits: 50,000 answers of 100 people with ten
// labels, and as many people and items as are left out in turn. A request may cost that
// much, so it must stay near two seconds of a processor.
func BenchmarkPanel(b *testing.B) {
	for _, x := range []struct{ people, items int64 }{{100, 10_000}, {100, 1000}, {10, 10_000}} {
		b.Run(fmt.Sprintf("%d people, %d items", x.people, x.items), func(b *testing.B) { benchmarkPanel(b, x.people, x.items) })
	}
}

func benchmarkPanel(b *testing.B, who, items int64) {
	random := rand.New(rand.NewPCG(1, 2))
	var labels []string
	for i := range 10 {
		labels = append(labels, fmt.Sprint("label ", i))
	}
	t := annotation.Task{ID: 1, Type: label.Classification, Schema: label.Schema{Fields: []label.Field{{Key: "k", Type: label.FieldChoice, Options: labels}}}}
	keys, people := map[uuid.UUID]string{}, make([]uuid.UUID, who)
	for i := range people {
		people[i] = uuid.New()
		keys[people[i]] = people[i].String()
	}
	known := annotation.Known{Gold: map[int64]string{}}
	var all []annotation.Vote
	for item := range items {
		right := labels[item%10]
		if item%10 == 0 {
			known.Gold[item] = right
		}
		for _, who := range random.Perm(len(people))[:5] {
			label := right
			if random.Float64() < .3 {
				label = labels[random.IntN(len(labels))]
			}
			all = append(all, annotation.Vote{Item: item, Person: people[who], Status: annotation.ItemAnnotated, Millis: int64(random.IntN(10_000)), Label: label})
		}
	}
	for b.Loop() {
		p := Panel{Task: t, all: all, keys: keys, Gold: &goldFound{}}
		scale, why := scaleOf(known, t, all)
		require.Empty(b, why)
		require.NoError(b, p.measure(principal.OrgID{}, scale, known, func() error { return nil }))
	}
}
