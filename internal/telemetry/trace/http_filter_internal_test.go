package trace

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi"
)

// A filter means the same wherever callers write it, and what is shown or stored of it
// means what they wrote.
func TestAFilterMeansTheSameInEveryForm(t *testing.T) {
	t.Parallel()
	yes, least, at := true, 1500*time.Microsecond, time.Unix(1_700_000_000, 0).UTC()
	want := Filter{
		Status: []Status{StatusFailed}, Search: "refund", ConversationID: "c", UserID: "u", Environment: "e", AgentName: "a", ReleaseID: "r", Tag: "t",
		HasError: &yes, MinDuration: &least, StartAfter: at, StartBefore: at.Add(time.Hour),
	}
	var body FilterInput
	require.NoError(t, json.Unmarshal([]byte(`{
		"status": ["failed"], "search": " refund ", "conversationId": "c", "userId": "u", "environment": "e", "agentName": "a", "releaseId": "r", "tag": "t",
		"hasError": true, "minDurationMs": 1.5, "startAfter": "2023-11-14T22:13:20Z", "startBefore": "2023-11-14T23:13:20Z"
	}`), &body, json.RejectUnknownMembers(true)))
	require.Equal(t, want, body.Filter())

	require.Equal(t, want, FilterQuery{
		Status: body.Status, FilterText: body.FilterText, Tag: "t", HasError: httpapi.Filter[bool]{Value: true, Sent: true},
		MinDurationMS: httpapi.Filter[float64]{Value: 1.5, Sent: true}, StartAfter: at, StartBefore: at.Add(time.Hour),
	}.filter())

	shown, err := json.Marshal(ToFilterBody(want))
	require.NoError(t, err)
	require.JSONEq(t, `{
		"search": "refund", "conversation_id": "c", "user_id": "u", "environment": "e", "agent_name": "a", "release_id": "r", "tag": "t",
		"has_error": true, "min_duration_ms": 1.5
	}`, string(shown))
	var back FilterBody
	require.NoError(t, json.Unmarshal(shown, &back))
	want.Status, want.StartAfter, want.StartBefore = nil, time.Time{}, time.Time{}
	require.Equal(t, want, back.Filter())

	var older FilterBody
	require.NoError(t, json.Unmarshal([]byte(`{"tag":"t"}`), &older))
	require.Equal(t, Filter{Tag: "t"}, older.Filter(), "a stored filter may lack what says nothing")
	require.Equal(t, Filter{}, FilterInput{}.Filter())
	require.Equal(t, Filter{}, FilterQuery{}.filter())
	require.Equal(t, Filter{}, FilterBody{}.Filter())
}
