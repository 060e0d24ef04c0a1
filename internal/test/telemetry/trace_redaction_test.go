package telemetry_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

// canary is in every field of what canaries sends; the rule that removes it is
// canaryRule.
const canary = "CANARY-48151623"

var canaryRule = map[string]any{"name": "canary", "pattern": `(?i)canary-\d+`}

// TestRedactionCoversEveryStoredText walks all texts of all tables that
// telemetry, REST and feedback are kept in. The control is an organization
// without the rule: the walk must find the canary in every column that is meant
// to hold text.
func TestRedactionCoversEveryStoredText(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	ruled, control := k.Org(t), k.Org(t)
	_, err := ruled.UpdateOrganization(t.Context(), map[string]any{"redactionRules": []any{canaryRule}})
	require.NoError(t, err)
	for _, us := range []*testkit.Client{ruled, control} {
		canaries(t, us)
	}
	require.Empty(t, stored(t, k.App.Config.ClickHouse, ruled).holding("48151623"))
	require.Equal(t, []string{
		"scores.comment", "scores.detail", "scores.source_id",
		"span_events.attributes", "span_events.body", "span_events.name", "span_events.severity",
		"span_payloads.events", "span_payloads.input", "span_payloads.links", "span_payloads.output", "span_payloads.search_text", "span_payloads.system", "span_payloads.tools",
		"spans.agent_name", "spans.attrs", "spans.attrs_json", "spans.conversation_id", "spans.environment", "spans.input_preview", "spans.model", "spans.name",
		"spans.output_preview", "spans.provider", "spans.release_id", "spans.resource", "spans.service_name", "spans.status_message", "spans.tags", "spans.tool_name", "spans.user_id",
	}, stored(t, k.App.Config.ClickHouse, control).holding("48151623"))
}

// holding returns the columns of all tables in which the organization has the
// text somewhere.
func (s tables) holding(text string) (found []string) {
	s.Helper()
	rows, err := s.ch.Query(s.Context(), `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND match(type, '\\bString')
		AND table IN (SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'org_id')
		AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')`)
	require.NoError(s, err)
	defer func() { _ = rows.Close() }()
	var columns [][2]string
	for rows.Next() {
		var c [2]string
		require.NoError(s, rows.Scan(&c[0], &c[1]))
		columns = append(columns, c)
	}
	require.NoError(s, rows.Err())
	require.Greater(s, len(columns), 40)
	for _, c := range columns {
		var n uint64
		query := fmt.Sprintf("SELECT countIf(position(toString(%s), ?) > 0) FROM %s WHERE org_id = ?", c[1], c[0])
		require.NoError(s, s.ch.QueryRow(s.Context(), query, text, s.org).Scan(&n), query)
		if n > 0 {
			found = append(found, c[0]+"."+c[1])
		}
	}
	slices.Sort(found)
	return found
}

// canaries sends the canary in every field of every way in.
func canaries(t *testing.T, us *testkit.Client) {
	t.Helper()
	id, spanID, start := testkit.NewTraceID(), testkit.NewSpanID(), aMomentAgo().UnixNano()
	text := func(key string) string {
		return fmt.Sprintf(`{"key":%q,"value":{"stringValue":"a %s b"}}`, key, canary)
	}
	attributes := func(keys ...string) string {
		all := []string{
			text("plain"), text("key " + canary),
			fmt.Sprintf(`{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a %s"},{"kvlistValue":{"values":[%s]}}]}}}`, canary, text(canary)),
		}
		for _, key := range keys {
			all = append(all, text(key))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	messages := func(key, role string) string {
		content := fmt.Sprintf(`[{"role":%q,"content":"say %s"}]`, role, canary)
		return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, key, content)
	}
	span := fmt.Sprintf(`{"traceId":%q,"spanId":%q,"name":"call %s","traceState":"a=%s","startTimeUnixNano":"%d","endTimeUnixNano":"%d",
		"attributes":%s,
		"events":[{"timeUnixNano":"%d","name":"event %s","attributes":%s}],
		"links":[{"traceId":%q,"spanId":%q,"traceState":"b=%s","attributes":%s}],
		"status":{"code":2,"message":"failed at %s"}}`,
		id, spanID, canary, canary, start, start+1e9,
		strings.TrimSuffix(attributes("gen_ai.agent.name", "gen_ai.request.model", "gen_ai.provider.name", "gen_ai.tool.name", "gen_ai.conversation.id", "user.id", "gen_ai.operation.name",
			"gen_ai.system_instructions", "gen_ai.tool.definitions", "assay.tags", "assay.primitive_type"), "]")+","+messages("gen_ai.input.messages", "user")+","+messages("gen_ai.output.messages", "assistant")+"]",
		start, canary, attributes(), testkit.NewTraceID(), testkit.NewSpanID(), canary, attributes(), canary)
	scope := fmt.Sprintf(`"scope":{"name":"scope %s","version":"%s","attributes":%s}`, canary, canary, attributes())
	resource := fmt.Sprintf(`"resource":{"attributes":%s}`, attributes("service.name", "service.version", "deployment.environment.name"))
	sendJSON(t, us, "/v1/traces", fmt.Sprintf(`{"resourceSpans":[{%s,"schemaUrl":%q,"scopeSpans":[{%s,"spans":[%s]}]}]}`, resource, canary, scope, span))
	record := fmt.Sprintf(`{"traceId":%q,"spanId":%q,"timeUnixNano":"%d","severityText":"severe %s","eventName":"event %s","body":{"stringValue":"body %s"},"attributes":%s}`,
		id, spanID, start, canary, canary, canary, attributes())
	sendJSON(t, us, "/v1/logs", fmt.Sprintf(`{"resourceLogs":[{%s,"scopeLogs":[{%s,"logRecords":[%s]}]}]}`, resource, scope, record))

	free := map[string]any{"a " + canary: []any{canary, map[string]any{"b": "c " + canary}}}
	one := map[string]any{
		"name": "step " + canary, "startTime": at(-time.Minute), "durationMs": 5, "status": map[string]any{"code": "error", "message": "because of " + canary},
		"attributes": free, "events": []any{map[string]any{"name": "happened " + canary, "time": at(-time.Minute), "attributes": free}},
		"links": []any{map[string]any{"traceId": id, "spanId": spanID, "attributes": free}}, "input": free, "output": "out " + canary, "model": "model " + canary, "provider": "provider " + canary,
	}
	made, err := us.CreateTrace(t.Context(), map[string]any{
		"name": "Trace " + canary, "startTime": at(-time.Minute), "conversationId": "conversation " + canary, "userId": "user " + canary, "environment": "env " + canary, "serviceName": "service " + canary,
		"agentName": "agent " + canary, "releaseId": "release " + canary, "input": free, "output": free, "tags": []string{"tag " + canary}, "metadata": free, "spans": []any{one},
	})
	require.NoError(t, err)
	patched, err := us.PatchTrace(t.Context(), made.ID, map[string]any{
		"name": "Renamed " + canary, "conversationId": canary, "userId": canary, "environment": canary, "agentName": canary, "releaseId": canary,
		"input": free, "output": "done " + canary, "tags": []string{canary}, "metadata": free,
	})
	require.NoError(t, err)
	added, err := us.AddSpans(t.Context(), made.ID, []map[string]any{one})
	require.NoError(t, err)
	for _, f := range []testkit.TraceFeedback{
		{Type: "comment", Comment: new("I think " + canary), UserID: new("me " + canary)},
		{Type: "correction", Value: free, UserID: new("me " + canary)},
	} {
		_, err := us.AddTraceFeedback(t.Context(), made.ID, f)
		require.NoError(t, err)
	}
	// What is answered is what is stored.
	read, err := us.GetTrace(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, read.Name, patched.Name)
	require.Equal(t, read.Tags, patched.Tags)
	require.Equal(t, read.Environment, patched.Environment)
	names := map[string]bool{}
	for _, s := range read.Spans {
		names[api.Value(s.Name)] = true
	}
	require.Contains(t, names, added.Spans[0].Name)
}

func sendJSON(t *testing.T, us *testkit.Client, path, body string) {
	t.Helper()
	res, err := us.Send(t.Context(), http.MethodPost, path, bytes.NewReader([]byte(body)), testkit.Header("Content-Type", "application/json"))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
	require.Equal(t, "{}", string(res.Body))
}
