package trace

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/score"
)

func TestFeedbackComesFromTheUserOrFromTheMemberWhoSentIt(t *testing.T) {
	t.Parallel()
	member := uuid.New()
	for name, c := range map[string]struct {
		in       Feedback
		want     score.Source
		separate bool
	}{
		"a user of the application": {Feedback{UserID: "u", CreatedBy: principal.UserActor(member, false)}, score.Source{Kind: score.SourceUser, ID: "u"}, false},
		"a member":                  {Feedback{CreatedBy: principal.UserActor(member, false)}, score.Source{Kind: score.SourcePerson, ID: member.String()}, false},
		"a member, says a key":      {Feedback{CreatedBy: principal.UserActor(member, true)}, score.Source{Kind: score.SourceUser}, true},
		"a key":                     {Feedback{CreatedBy: principal.KeyActor(1)}, score.Source{Kind: score.SourceUser}, true},
		"a comment":                 {Feedback{Type: FeedbackComment, UserID: "u"}, score.Source{Kind: score.SourceUser, ID: "u"}, true},
	} {
		got := c.in.score()
		require.Equal(t, c.want, got.Source, name)
		require.Equal(t, c.separate, got.Separate, name)
	}
}
