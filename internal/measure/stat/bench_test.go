package stat_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/assayhq/assay/internal/measure/stat"
)

// run makes the rows of a run over a dataset.
func run(items, epochs int, shift float64, binary bool) []stat.Observation {
	random := rand.New(rand.NewPCG(1, uint64(items)))
	rows := make([]stat.Observation, 0, items*epochs)
	for i := range items {
		level := random.Float64() * 0.8
		for e := range epochs {
			score := level + 0.2*random.Float64() + shift*random.Float64()
			if binary {
				score = float64(int(score + 0.5))
			}
			rows = append(rows, stat.Observation{Item: fmt.Sprintf("%08d", 7*i), Content: fmt.Sprintf("sha256:%064d", i), Epoch: e, Score: min(1, score)})
		}
	}
	return rows
}

// BenchmarkCompare compares two runs of 100,000 rows; less than 50 ms is the
// promise, so that a comparison is computed when it is asked for.
func BenchmarkCompare(b *testing.B) {
	for _, c := range []struct {
		name          string
		items, epochs int
		binary        bool
		clusters      int
		shuffled      bool
	}{
		{"numeric", 100_000, 1, false, 0, false},
		{"binary", 100_000, 1, true, 0, false},
		{"epochs", 20_000, 5, false, 0, false},
		{"clusters", 100_000, 1, false, 4000, false},
		{"shuffled", 100_000, 1, false, 0, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			one, two := run(c.items, c.epochs, 0, c.binary), run(c.items, c.epochs, 0.01, c.binary)
			if c.clusters > 0 {
				for i := range one {
					one[i].Cluster = fmt.Sprintf("document %d", i%c.clusters)
					two[i].Cluster = one[i].Cluster
				}
			}
			if c.shuffled {
				rand.New(rand.NewPCG(2, 2)).Shuffle(len(two), func(i, j int) { two[i], two[j] = two[j], two[i] })
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := stat.Compare(one, two, stat.CompareOptions{Options: stat.Options{Range: stat.Unit()}, Margin: 0.01}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMean(b *testing.B) {
	rows := run(100_000, 1, 0, false)
	for b.Loop() {
		if _, err := stat.Mean(rows, stat.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
