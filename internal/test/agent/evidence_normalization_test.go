package agent_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/testkit"
)

type normalization struct {
	ID      int64  `json:"id"`
	State   string `json:"state"`
	Read    int64  `json:"read"`
	Changed int64  `json:"changed"`
	Refused int64  `json:"refused"`
}

// normalize has events read again, and waits until they are.
func normalize(t testing.TB, us *testkit.Client, events string) (n normalization) {
	t.Helper()
	_, err := us.Call(t.Context(), http.MethodPost, "/api/agent-evidence/normalizations", map[string]any{"events": events}, &n)
	require.NoError(t, err)
	// The workflow engine does not say when it is done.
	require.Eventually(t, func() bool {
		_, err := us.Call(t.Context(), http.MethodGet, fmt.Sprintf("/api/agent-evidence/normalizations/%d", n.ID), nil, &n)
		return err == nil && n.State == "completed"
	}, 10*time.Minute, 20*time.Millisecond)
	return n
}

// receivedOld stores an event as a release did that did not understand it, and returns
// the id of its record. A sender sends one that nobody understands; what the record says
// is then replaced in ClickHouse.
func receivedOld(t testing.TB, k *testkit.Kit, us, sender *testkit.Client, e map[string]any) int64 {
	t.Helper()
	ctx := t.Context()
	unknown := maps.Clone(e)
	unknown["type"], unknown["data"] = "com.example.later", map[string]any{"later": true}
	delete(unknown, "format")
	_, err := sender.IngestEvidence(ctx, envelope(unknown))
	require.NoError(t, err)
	ch, err := clickhouse.Open(k.App.Config.ClickHouse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	const its = " FROM evidence FINAL WHERE org_id = ? AND kind = 'raw-events' AND JSONExtractString(body, 'event_id') = ?"
	var id int64
	var text string
	require.NoError(t, ch.Writer().QueryRow(ctx, "SELECT id, body"+its, uuid.UUID(us.Org), e["id"]).Scan(&id, &text))
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &body))
	require.Equal(t, "unmapped", body["status"])
	body["type"], body["payload"], body["normalizer_version"] = e["type"], e["data"], "mcp/0"
	if e["format"] != nil {
		body["format"] = e["format"]
	}
	changed, err := json.Marshal(body)
	require.NoError(t, err)
	require.NoError(t, ch.Writer().Exec(ctx, "INSERT INTO evidence SELECT * REPLACE (replaces + 1 AS replaces, ? AS body)"+its, string(changed), uuid.UUID(us.Org), e["id"]))
	return id
}

func TestEventsAreReadAgain(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	us := k.Org(t)
	ctx := t.Context()
	raw := receivedOld(t, k, us, us, message("old", "s", map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": map[string]any{"name": "refund"}}))
	reply := message("reply", "s", map[string]any{"jsonrpc": "2.0", "id": 7, "result": map[string]any{"content": []any{}}})
	untimed := event("4", "agent-evidence.benchmarks", map[string]any{"benchmarkKey": "b", "metrics": map[string]any{"m": 1}, "idempotencyKey": "b", "note": "as sent"})
	delete(untimed, "time")
	_, err := us.IngestEvidence(ctx, envelope(reply, untimed, explanation("1"), event("2", "agent-evidence.failures", map[string]any{"failureKey": "f", "failureMode": "loop", "severity": "low"}), event("3", "com.example.weather", map[string]any{"rain": true})))
	require.NoError(t, err)

	n := normalize(t, us, "outdated")
	require.EqualValues(t, 2, n.Read, "the one of an old release, and the one that is not understood")
	require.EqualValues(t, 1, n.Changed)
	event, err := us.GetEvidence(ctx, "raw-events", raw)
	require.NoError(t, err)
	require.Equal(t, "normalized", event["status"])
	calls, _, err := us.ListEvidence(ctx, invocations, "")
	require.NoError(t, err)
	require.Len(t, calls, 1, "the request joins the reply that was there before it")
	require.Equal(t, "refund", calls[0]["tool_name"])
	require.Equal(t, "succeeded", calls[0]["status"])

	all := func() (out []testkit.Evidence) {
		for _, kind := range []string{"raw-events", invocations, "eval-explanations", "benchmarks", "failures", "runtimes"} {
			list, _, err := us.ListEvidence(ctx, kind, "")
			require.NoError(t, err)
			out = append(out, list...)
		}
		return out
	}
	_, err = us.UpdateEvidence(ctx, invocations, calls[0].ID(), map[string]any{"attributes": map[string]any{"ticket": "T-1"}})
	require.NoError(t, err)
	before := all()
	n = normalize(t, us, "all")
	require.EqualValues(t, 6, n.Read)
	require.Zero(t, n.Changed)
	require.Zero(t, n.Refused)
	require.Equal(t, before, all(), "reading everything again changes nothing")
}

// TestWhatIsReadAgainComesFromItsSender reads requests for approvals again: who sent them
// asks, and not the platform, and what a client says that it received is not read.
func TestWhatIsReadAgainComesFromItsSender(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	us := k.Org(t)
	ctx := t.Context()
	digest := "sha256:" + strings.Repeat("ab", 32)
	member, ann := us.Person(t, principal.Admin)
	receivedOld(t, k, us, ann, event("old", "agent-evidence.approvals", map[string]any{"title": "Old", "reason": "r", "inputDigest": digest}))
	_, err := ann.IngestEvidence(ctx, envelope(event("posted", "agent-evidence.raw-events", map[string]any{
		"eventId": "hidden", "source": "s", "type": "agent-evidence.approvals", "format": "native", "payload": map[string]any{"title": "Posted", "reason": "r", "inputDigest": digest},
	})))
	require.NoError(t, err)

	normalize(t, us, "all")

	all, _, err := us.ListEvidence(ctx, "approvals", "")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "Old", all[0]["title"])
	require.Equal(t, member.ID, all[0]["requested_by"].(map[string]any)["user_id"])
}

// TestReadingAgainWhileAnotherEnds asks to read events again and again, while each time
// that is under way ends: it begins anew, or joins the one that is there.
func TestReadingAgainWhileAnotherEnds(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	owner := k.Owner(t, us.Org)
	ending, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for ending.Err() == nil {
			_, err := owner.Exec(t.Context(), "UPDATE evidence_normalizations SET state = 'completed', completed_at = now() WHERE state = 'running'")
			if err != nil {
				ended <- err
				return
			}
		}
		ended <- owner.Close(t.Context())
	}()
	var asking errgroup.Group
	for range 4 {
		asking.Go(func() error {
			for range 50 {
				if _, err := us.Call(t.Context(), http.MethodPost, "/api/agent-evidence/normalizations", map[string]any{"events": "outdated"}, nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, asking.Wait())
	stop()
	require.NoError(t, <-ended)
}
