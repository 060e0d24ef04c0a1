package telemetry_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestEveryAcknowledgedLogRecordIsStored sends records of all sizes in one
// request, some of them old enough for the lane of imports, all with secrets in
// their body and their attributes, and some that cannot be stored.
func TestEveryAcknowledgedLogRecordIsStored(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	id, now := testkit.NewTraceID(), aMomentAgo()
	us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, Name: "a", Start: now, Duration: time.Second}))

	const records = 150
	logs := plog.NewLogs()
	list := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	want := map[string][2]any{}
	for i := range records {
		name, text := fmt.Sprint("record ", i), strings.Repeat(fmt.Sprint(i, " "), i*i/4)
		r := list.AppendEmpty()
		r.SetTraceID(pcommon.TraceID(unhex(t, id)))
		r.SetEventName(name)
		r.SetTimestamp(pcommon.NewTimestampFromTime(now.Add(time.Duration(i) * time.Millisecond)))
		if i%3 == 0 {
			r.SetTimestamp(pcommon.NewTimestampFromTime(now.AddDate(0, 0, -40-i)))
		}
		r.Body().SetStr(text + "4111111111111111")
		r.Attributes().PutStr("password", "hunter2")
		r.Attributes().PutStr("note", text)
		want[name] = [2]any{text + "[redacted:card_number]", map[string]any{"password": "[redacted:password]", "note": text}}
	}
	list.AppendEmpty().SetTimestamp(pcommon.NewTimestampFromTime(now))
	wrong := list.AppendEmpty()
	wrong.SetTraceID(pcommon.TraceID(unhex(t, id)))
	wrong.SetTimestamp(pcommon.Timestamp(now.UnixMilli()))
	body, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	require.NoError(t, err)

	for range 2 { // the second time adds nothing
		res, err := us.Send(t.Context(), http.MethodPost, "/v1/logs", bytes.NewReader(body), testkit.Header("Content-Type", "application/x-protobuf"))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
		got := plogotlp.NewExportResponse()
		require.NoError(t, got.UnmarshalProto(res.Body))
		require.EqualValues(t, 2, got.PartialSuccess().RejectedLogRecords(), "one names no trace, one is not in nanoseconds")
	}

	read, err := us.GetTrace(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, read.Events, records)
	got := map[string][2]any{}
	for _, e := range read.Events {
		got[*e.Name] = [2]any{e.Body, e.Attributes}
	}
	require.Equal(t, want, got)
}
