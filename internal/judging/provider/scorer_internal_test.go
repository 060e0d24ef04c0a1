package provider

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A score that nobody asked for has not failed: whoever goes on later asks for it.
func TestAServiceThatIsNotAskedHasNotFailed(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	close(stopped)
	pace := NewPace(time.Now, stopped)
	pace.hold(time.Hour) // as a service asks for that has too much to do
	s := &Scorer{metric: "m", most: 1, pace: pace}
	_, err := s.Score(t.Context(), []byte(`{}`))
	require.ErrorIs(t, err, ErrStopped)
}

// FuzzReadScores feeds whatever a service may answer: there is one score for each
// answer, each a number that can be added up, or nothing is read.
func FuzzReadScores(f *testing.F) {
	for _, seed := range []string{
		`{"scores":[1]}`, `{"scores":[null]}`, `{"scores":[{"value":0.5,"explanation":"so"}]}`, `{"scores":[{"value":"1"}]}`, `{"scores":[1e999]}`,
		`{"scores":[[]]}`, `{"scores":[1,2]}`, `{"scores":{}}`, `{}`, `[]`, ``, `{"scores":["1"]}`, `{"scores":[true]}`, `{"scores":[{"explanation":1}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		given, ok := readScores(text, 1)
		if !ok {
			require.Nil(t, given)
			return
		}
		require.Len(t, given, 1)
		if v := given[0].Value; v != nil {
			require.Empty(t, given[0].Failed)
			require.False(t, math.IsNaN(*v) || math.IsInf(*v, 0))
		}
	})
}
