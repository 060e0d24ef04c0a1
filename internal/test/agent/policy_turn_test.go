package agent_test

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

const often = `@id("often") @history("refunds = count(payments/refund, 24h)")
forbid (principal, action, resource) when { context.tool_name == "refund" && context.history.refunds >= 1000 };` + permitAll

// oftenTransacts looks at the past once it is known what the tool does.
const oftenTransacts = `@id("often") @history("refunds = count(payments/refund, 24h)")
forbid (principal, action, resource) when { context.side_effect_class == "transact" && context.history.refunds >= 1000 };` + permitAll

// TestQuestionsThatWait shows what holds for questions that wait until others about the same
// actor are decided: what people have done meanwhile.
func TestQuestionsThatWait(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	// held has many questions about an agent wait while something is done.
	held := func(t *testing.T, s policyScene, do func()) []testkit.Evidence {
		t.Helper()
		owner, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
		require.NoError(t, err)
		defer func() { require.NoError(t, owner.Close(t.Context())) }()
		sum := sha256.Sum256([]byte("policy\x00" + s.Org.String() + "\x00runtime/refund-agent"))
		actor := int64(binary.BigEndian.Uint64(sum[:]))
		_, err = owner.Exec(t.Context(), "SELECT pg_advisory_lock($1)", actor)
		require.NoError(t, err)

		type outcome struct {
			decision testkit.Evidence
			err      error
		}
		const askers = 40 // more than there are connections
		outcomes := make(chan outcome, askers)
		for range askers {
			go func() {
				d, err := s.Evaluate(t.Context(), call("refund", "1", nil))
				outcomes <- outcome{d, err}
			}()
		}
		require.Eventually(t, func() bool {
			var waits bool
			err := owner.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
				AND ((classid::bigint << 32) | objid::bigint) = $1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`, actor).Scan(&waits)
			return err == nil && waits
		}, 10*time.Minute, 5*time.Millisecond)
		do()
		_, err = owner.Exec(t.Context(), "SELECT pg_advisory_unlock($1)", actor)
		require.NoError(t, err)

		all := make([]testkit.Evidence, askers)
		for i := range all {
			got := <-outcomes
			require.NoError(t, got.err)
			all[i] = got.decision
		}
		return all
	}

	t.Run("a runtime that is suspended is denied, and can be suspended at once", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, often)
		s.ask(t, call("look_up", "1", nil)) // the runtime is known
		runtime := s.things(t, "runtimes")[0]

		for _, d := range held(t, s, func() {
			began := time.Now()
			_, err := s.ann.UpdateEvidence(t.Context(), "runtimes", runtime.ID(), object{"state": "suspended"})
			require.NoError(t, err)
			require.Less(t, time.Since(began), 25*time.Second, "those who wait hold no connection")
		}) {
			require.Equal(t, []string{"runtime_suspended"}, codes(d))
		}
	})

	t.Run("so is one whose policy looks back only at tools of a class", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, oftenTransacts)
		s.ask(t, call("look_up", "1", nil))
		runtime := s.things(t, "runtimes")[0]

		for _, d := range held(t, s, func() {
			began := time.Now()
			_, err := s.ann.UpdateEvidence(t.Context(), "runtimes", runtime.ID(), object{"state": "suspended"})
			require.NoError(t, err)
			require.Less(t, time.Since(began), 25*time.Second, "those who wait hold no connection")
		}) {
			require.Equal(t, []string{"runtime_suspended"}, codes(d))
		}
	})

	t.Run("a policy that forbids is asked", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, often)
		s.ask(t, call("look_up", "1", nil))

		for _, d := range held(t, s, func() {
			create(t, s.Client, object{"policyKey": "stop", "source": `@id("stop") forbid (principal, action, resource);`, "state": "active"})
		}) {
			require.Equal(t, "deny", d["decision"])
		}
	})
}

// TestALongNameIsAnActor asks for somebody whose name is as long as a name may be.
func TestALongNameIsAnActor(t *testing.T) {
	t.Parallel()
	s := newScene(t, testkit.Shared(t))
	s.only(t, `@history("refunds = count(payments/refund, 24h)")
forbid (principal, action, resource) when { context.tool_name == "refund" && context.history.refunds >= 1 };`+permitAll)
	var name strings.Builder
	for i := range 1020 {
		name.WriteRune(rune(0x4E00 + i*17%20000)) // three bytes each, which do not compress
	}
	about := func(end string) object {
		return object{"subject": object{"type": "User", "id": name.String() + end}, "toolInvocation": object{"connectorKey": "payments", "toolName": "refund", "arguments": object{"amount": "1"}}}
	}
	require.Equal(t, "allow", s.ask(t, about("a"))["decision"])
	require.Equal(t, "deny", s.ask(t, about("a"))["decision"], "it is the same one")
	require.Equal(t, "allow", s.ask(t, about("b"))["decision"])
}
