package scoring_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/scoring"
)

func TestAnItemWithoutAValueIsInNoCluster(t *testing.T) {
	t.Parallel()
	for labels, want := range map[string]string{`{"user":"ann"}`: "ann", `{"user":7}`: "7", `{"user":null}`: "", `{"user":""}`: "", `{}`: ""} {
		require.Equal(t, want, scoring.Cluster(dataset.Item{Content: dataset.Content{Labels: jsontext.Value(labels)}}, "user"), labels)
	}
}
