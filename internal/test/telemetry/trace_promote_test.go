package telemetry_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestTracesToDataset(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	said := func(t *testing.T, of *testkit.Client, body map[string]any) testkit.WrittenTrace {
		t.Helper()
		body["name"] = "n"
		made, err := of.CreateTrace(t.Context(), body)
		require.NoError(t, err)
		return made
	}

	t.Run("each trace becomes an item, once", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		a := said(t, us, map[string]any{"input": map[string]any{"Question": "A?"}, "output": "a"})
		b := said(t, us, map[string]any{"input": "B?"})
		same := said(t, us, map[string]any{"input": "B?"})
		none := said(t, us, map[string]any{"output": "no input"})
		fromSpans := testkit.NewTraceID()
		_, err := us.AddSpans(t.Context(), fromSpans, []map[string]any{span("root", map[string]any{"input": "from the root", "output": "its answer"})})
		require.NoError(t, err)
		body := map[string]any{"datasetId": d.ID, "traceIds": []any{a.ID, api.Value(b.TraceRef), same.ID, none.ID, strings.ToUpper(fromSpans)}}

		got, err := us.AddTracesToDataset(t.Context(), body)

		require.NoError(t, err)
		require.EqualValues(t, 3, got.Created)
		require.Equal(t, []string{a.ID, b.ID, fromSpans}, []string{got.Items[0].TraceID, got.Items[1].TraceID, got.Items[2].TraceID})
		require.Len(t, got.Skipped, 2)
		require.Equal(t, []string{same.ID, "duplicate", got.Items[1].ItemID}, []string{got.Skipped[0].TraceID, got.Skipped[0].Reason, api.Value(got.Skipped[0].ItemID)})
		require.Equal(t, []string{none.ID, "no_input", ""}, []string{got.Skipped[1].TraceID, got.Skipped[1].Reason, api.Value(got.Skipped[1].ItemID)})
		item, err := us.GetDatasetItem(t.Context(), d.ID, got.Items[0].ItemID, "")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"Question": "A?"}, item.Input)
		require.Equal(t, "a", item.ExpectedOutput)
		root, err := us.GetDatasetItem(t.Context(), d.ID, got.Items[2].ItemID, "")
		require.NoError(t, err)
		require.Equal(t, []any{"from the root", "its answer"}, []any{root.Input, root.ExpectedOutput})
		var source string
		require.NoError(t, k.Owner(t, us.Org).QueryRow(t.Context(), "SELECT source_type || ' ' || source_id FROM dataset_items WHERE id = $1", got.Items[0].ItemID).Scan(&source))
		require.Equal(t, "trace "+a.ID, source)

		again, err := us.AddTracesToDataset(t.Context(), body)
		require.NoError(t, err)
		require.Zero(t, again.Created)
		require.Len(t, again.Skipped, 5)
	})

	t.Run("a span becomes an item, whatever its trace has", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		trace := testkit.NewTraceID()
		made, err := us.AddSpans(t.Context(), trace, []map[string]any{
			span("agent", map[string]any{"input": "the question", "output": "the answer"}),
			span("call", map[string]any{"input": "the prompt", "output": "the text"}),
			span("tool", nil),
		})
		require.NoError(t, err)
		name := func(trace, span string) map[string]any { return map[string]any{"traceId": trace, "spanId": span} }

		got, err := us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": d.ID, "spans": []any{name(trace, made.Spans[1].ID), name(trace, made.Spans[2].ID)}})

		require.NoError(t, err)
		require.EqualValues(t, 1, got.Created)
		require.Equal(t, made.Spans[1].ID, api.Value(got.Items[0].SpanID))
		require.Equal(t, []string{made.Spans[2].ID, "no_input"}, []string{api.Value(got.Skipped[0].SpanID), got.Skipped[0].Reason})
		item, err := us.GetDatasetItem(t.Context(), d.ID, got.Items[0].ItemID, "")
		require.NoError(t, err)
		require.Equal(t, []any{"the prompt", "the text"}, []any{item.Input, item.ExpectedOutput})
		var source string
		require.NoError(t, k.Owner(t, us.Org).QueryRow(t.Context(), "SELECT source_type || ' ' || source_id FROM dataset_items WHERE id = $1", got.Items[0].ItemID).Scan(&source))
		require.Equal(t, "span "+trace+"/"+made.Spans[1].ID, source)

		sent := testkit.NewTraceID()
		us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: sent, Name: "model", Start: k.Clock.Now(), Duration: time.Second, Attributes: map[string]any{"input.value": "plain words", "output.value": `{"a":1,"a":2}`}}))
		page, err := us.ListTraceSpans(t.Context(), sent, "")
		require.NoError(t, err)
		got, err = us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": d.ID, "spans": []any{name(sent, page.Spans[0].SpanID)}})
		require.NoError(t, err, "a text that is not JSON is one")
		item, err = us.GetDatasetItem(t.Context(), d.ID, got.Items[0].ItemID, "")
		require.NoError(t, err)
		require.Equal(t, "plain words", item.Input)

		theirs := testkit.NewTraceID()
		other, err := them.AddSpans(t.Context(), theirs, []map[string]any{span("secret", map[string]any{"input": "theirs"})})
		require.NoError(t, err)
		for _, wrong := range []map[string]any{name(trace, "00f067aa0ba902b7"), name(theirs, other.Spans[0].ID)} {
			_, err = us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": d.ID, "spans": []any{name(trace, made.Spans[1].ID), wrong}})
			require.Equal(t, []string{"/spans/1 unknown_reference"}, fieldsOf(t, err))
		}
		_, err = us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": d.ID, "spans": []any{name(trace, made.Spans[1].ID)}, "traceIds": []any{trace}})
		require.Equal(t, []string{"/spans mutually_exclusive"}, fieldsOf(t, err))
		_, err = us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": d.ID})
		require.Equal(t, []string{"/traceIds one_of_required"}, fieldsOf(t, err))
	})

	t.Run("the output can be left out", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		a := said(t, us, map[string]any{"input": "A?", "output": "a"})
		got, err := us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": d.ID, "traceIds": []any{a.ID}, "includeOutput": false})
		require.NoError(t, err)
		item, err := us.GetDatasetItem(t.Context(), d.ID, got.Items[0].ItemID, "")
		require.NoError(t, err)
		require.Nil(t, item.ExpectedOutput)
	})

	t.Run("what does not exist is named, and nothing is added", func(t *testing.T) {
		t.Parallel()
		d, theirs := us.Dataset(t, testkit.NewDataset{}), them.Dataset(t, testkit.NewDataset{})
		a, other := said(t, us, map[string]any{"input": "A?"}), said(t, them, map[string]any{"input": "B?"})
		_, err := us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": d.ID, "traceIds": []any{a.ID, testkit.NewTraceID(), other.ID, 4711}})
		require.Equal(t, []string{"/traceIds/1 unknown_reference", "/traceIds/2 unknown_reference", "/traceIds/3 unknown_reference"}, fieldsOf(t, err))
		for _, id := range []string{"99999999", theirs.ID} {
			_, err = us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": id, "traceIds": []any{a.ID}})
			require.Equal(t, []string{"/datasetId unknown_reference"}, fieldsOf(t, err))
		}
		page, err := us.ListDatasetItems(t.Context(), d.ID, "")
		require.NoError(t, err)
		require.Empty(t, page.Items)
	})

	t.Run("a trace that does not match the dataset's schema is named", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{Schema: map[string]any{"type": "object", "properties": map[string]any{"input": map[string]any{"type": "object"}}}})
		good, bad := said(t, us, map[string]any{"input": map[string]any{"a": 1}}), said(t, us, map[string]any{"input": "text"})
		_, err := us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": d.ID, "traceIds": []any{good.ID, bad.ID}})
		require.Equal(t, []string{"/traceIds/1 format"}, fieldsOf(t, err))
	})

	t.Run("a key needs the right to write datasets and the right to read traces", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		a := said(t, us, map[string]any{"input": "secret of a trace"})
		body := map[string]any{"datasetId": d.ID, "traceIds": []any{a.ID}}
		for lacking, scopes := range map[principal.Scope][]principal.Scope{
			principal.TracesRead: {principal.EvalWrite, principal.EvalRead, principal.TracesWrite},
			principal.EvalWrite:  {principal.TracesRead, principal.EvalRead, principal.TracesWrite},
		} {
			res, err := k.Key(t, us, scopes...).Call(t.Context(), http.MethodPost, "/api/traces/to-dataset", body, nil)
			require.Error(t, err)
			require.Equal(t, http.StatusUnauthorized, res.Status)
			require.Equal(t, []any{"insufficient_scope", string(lacking)}, []any{detailsOf(t, err)["reason"], detailsOf(t, err)["requiredScope"]})
		}
		got, err := k.Key(t, us, principal.EvalWrite, principal.TracesRead).AddTracesToDataset(t.Context(), body)
		require.NoError(t, err)
		require.EqualValues(t, 1, got.Created)
	})

	t.Run("a golden dataset takes no traces", func(t *testing.T) {
		t.Parallel()
		golden := us.Dataset(t, testkit.NewDataset{Purpose: new("golden")})
		a := said(t, us, map[string]any{"input": "A?"})
		_, err := us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": golden.ID, "traceIds": []any{a.ID}})
		require.ErrorIs(t, err, dataset.ErrGolden)
	})

	t.Run("the list has bounds", func(t *testing.T) {
		t.Parallel()
		many := []any{}
		for i := range 101 {
			many = append(many, strconv.Itoa(i+1))
		}
		for _, list := range []any{[]any{}, many, []any{"x"}, []any{0}, "x", []any{map[string]any{}}} {
			_, err := us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": "1", "traceIds": list})
			require.NotEmpty(t, fieldsOf(t, err), "%v", list)
		}
	})
}
