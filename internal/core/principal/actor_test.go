package principal_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
)

func TestActor(t *testing.T) {
	t.Parallel()
	user := uuid.MustParse("01a1dd22-5818-79ee-b8af-64a7bb3bb5b5")

	t.Run("is read as it was written", func(t *testing.T) {
		t.Parallel()
		for text, actor := range map[string]principal.Actor{
			"system":         {Type: principal.ActorSystem},
			"service_key/12": principal.KeyActor(12),
			"user/01a1dd22-5818-79ee-b8af-64a7bb3bb5b5":          principal.UserActor(user, false),
			"user/01a1dd22-5818-79ee-b8af-64a7bb3bb5b5/asserted": principal.UserActor(user, true),
		} {
			require.Equal(t, text, actor.String())
			require.Equal(t, actor, principal.ParseActor(text))
		}
	})

	t.Run("of an older form is still a service key", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, principal.Actor{Type: principal.ActorServiceKey}, principal.ParseActor("key/7FA3Ccu35FDx"))
	})

	t.Run("of an unknown form names nobody", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"", "user", "user/", "robot/7", "/asserted"} {
			require.Equal(t, principal.Actor{Type: principal.ActorSystem}, principal.ParseActor(text))
		}
	})

	t.Run("is the person, else the key, else the system", func(t *testing.T) {
		t.Parallel()
		of := func(c principal.Caller) principal.Actor { return principal.ActorOf(principal.With(t.Context(), c)) }
		require.Equal(t, principal.UserActor(user, true), of(principal.Caller{Key: 12, User: &user, Asserted: true}))
		require.Equal(t, principal.KeyActor(12), of(principal.Caller{Key: 12}))
		require.Equal(t, principal.Actor{Type: principal.ActorSystem}, principal.ActorOf(t.Context()))
	})
}
