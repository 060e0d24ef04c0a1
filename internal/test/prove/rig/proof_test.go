package rig_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

type subject struct {
	*rig.System
	did []string
}

func (s *subject) Logs() error { s.did = append(s.did, "logs"); return nil }

func (s *subject) Stop(keep bool) error {
	if keep {
		s.did = append(s.did, "kept")
	} else {
		s.did = append(s.did, "removed")
	}
	return nil
}

func TestTheStateOfAFailedProofIsKeptOnRequest(t *testing.T) {
	t.Parallel()
	bad := errors.New("lost one")
	for name, c := range map[string]struct {
		start, run error
		keep       bool
		want       []string
	}{
		"whole":              {keep: true, want: []string{"removed"}},
		"failed":             {run: bad, want: []string{"logs", "removed"}},
		"failed and kept":    {run: bad, keep: true, want: []string{"logs", "kept"}},
		"not started, kept":  {start: bad, keep: true, want: []string{"logs", "kept"}},
		"not started at all": {start: bad, want: []string{"logs", "removed"}},
	} {
		s := &subject{}
		err := rig.Prove(t.Context(), c.keep, func(context.Context) (*subject, error) { return s, c.start },
			func(context.Context, *subject) (rig.Result, error) { return rig.Result{"x"}, c.run })
		require.Equal(t, c.start != nil || c.run != nil, errors.Is(err, bad), name)
		require.Equal(t, c.want, s.did, name)
	}
}

func TestAResultIsALine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "ingest lost 0 points 7/10", rig.Result{"ingest"}.With("lost", 0).With("points", rig.Of(7, 10)).String())
	require.Equal(t, "runs 3 ended 3", rig.Result{}.With("runs", 3).With("ended", 3).String())
}
