package app_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// routes are the operations of the document: by "METHOD path", the id and
// whether there is a body of JSON.
func routes(t testing.TB) map[string]struct {
	id   string
	body bool
} {
	t.Helper()
	text, err := os.ReadFile("../../../api/openapi.json")
	require.NoError(t, err)
	var doc struct {
		Paths map[string]map[string]struct {
			ID   string `json:"operationId"`
			Body struct {
				Content map[string]any `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(text, &doc))
	out := map[string]struct {
		id   string
		body bool
	}{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			r := out[""]
			r.id, r.body = op.ID, op.Body.Content["application/json"] != nil
			out[strings.ToUpper(method)+" "+path] = r
		}
	}
	return out
}

// uncaused are the events that no specimen expects, and what causes them instead.
var uncaused = map[string]string{
	"adjudication.item.closed":      "createGroundTruth, after its own event",
	"adjudication.item.dismissed":   "updateAdjudicationItem with a status",
	"adjudication.item.released":    "assignAdjudicationItem without an assignee",
	"adjudication.item.reopened":    "updateAdjudicationItem with a status",
	"annotation.item.annotated":     "the last answer to an item",
	"annotation.item.conflicted":    "the last answer to an item",
	"annotation_item.adjudicated":   "a decision about its answers",
	"annotation_item.reopened":      "updateAnnotationItem of a skipped item",
	"annotation_item.skipped":       "updateAnnotationItem by an annotator",
	"annotation_item.unadjudicated": "a decision that is withdrawn",
	"annotation_task.completed":     "the last answer to its items",
	"annotation_task.milestone":     "the 50th complete item",
	"annotation_task.reopened":      "new items of a completed task",
	"evidence_approval.created":     "createEvidence of another kind",
	"evidence_benchmark.created":    "createEvidence of another kind",
	"evidence_connector.created":    "ingestEvidence",
	"evidence_failure.regressed":    "ingestEvidence of a fixed failure",
	"evidence_runtime.created":      "ingestEvidence",
	"evidence_side_effect.created":  "createEvidence of another kind",
	"evidence_side_effect.updated":  "updateEvidence of another kind",
	"ground_truth.revoked":          "updateAdjudicationItem with revokeGroundTruth",
	"ground_truth.superseded":       "createGroundTruth a second time",
	"judge_probe.completed":         "the end of a probe",
	"judge_probe.failed":            "the end of a probe",
	"judge_probe.reported":          "verdicts after a probe was cancelled",
	"judge_watch.changed":           "a check of a watch",
	"member.accepted":               "a member who comes in",
	"member.signed_in":              "a member who signs in",
	"member.signed_out":             "a member who signs out",
	"organization.created":          "assay admin bootstrap",
	"organization.plan_changed":     "assay admin plan",
	"organization.resumed":          "assay admin resume",
	"organization.suspended":        "assay admin suspend",
	"run.completed":                 "the end of a run",
	"run.failed":                    "the end of a run",
}

// TestSpecimensExpectEventsOfTheCatalogue also finds events that nothing is known to cause.
func TestSpecimensExpectEventsOfTheCatalogue(t *testing.T) {
	t.Parallel()
	known, caused := map[string]bool{}, map[string]bool{}
	for _, o := range specimen.Operations() {
		caused[o.Audit] = true
	}
	for _, e := range event.All() {
		action := e.Action() + " " + e.Resource()
		known[action] = true
		require.Contains(t, object(committedDocument(t), "components", "schemas"), e.Schema(), action)
		require.NotEqual(t, caused[action], uncaused[e.Action()] != "", "%s: a specimen has to expect it, or uncaused to say what causes it", action)
	}
	for _, o := range specimen.Operations() {
		require.True(t, o.Audit == "" || known[o.Audit], "%s expects %s, which is not in the catalogue", o.ID, o.Audit)
	}
}

// problems says what the specimens lack for a set of operations.
func problems(t testing.TB, operations []specimen.Operation) (found []string) {
	t.Helper()
	known := routes(t)
	for route, op := range known {
		i := slices.IndexFunc(operations, func(o specimen.Operation) bool { return o.ID == op.id })
		switch {
		case i < 0 && (op.body || !strings.HasPrefix(route, http.MethodGet)):
			found = append(found, op.id+" has no specimen")
		case i < 0:
		case op.body && operations[i].Body == "":
			found = append(found, op.id+" has no body")
		case op.body && operations[i].Refused == "" && !strings.Contains(route, "/v1/"):
			found = append(found, op.id+" has no refused body")
		case !strings.HasPrefix(route, http.MethodGet) && operations[i].Audit == "" && !operations[i].Telemetry:
			found = append(found, op.id+" has no audit entry")
		}
		_, path, _ := strings.Cut(route, " ")
		for _, upTo := range specimen.Params(path) {
			if _, ok := specimen.NounOf(upTo); !ok {
				found = append(found, op.id+": no noun for "+upTo)
			}
		}
	}
	for _, o := range operations {
		if known[o.Route].id != o.ID {
			found = append(found, o.ID+" is not "+o.Route)
		}
	}
	slices.Sort(found)
	return found
}

func TestEveryOperationHasASpecimen(t *testing.T) {
	t.Parallel()
	require.Empty(t, problems(t, specimen.Operations()))

	// What is missing or stale is named.
	all := specimen.Operations()
	require.Equal(t, []string{all[0].ID + " has no specimen"}, problems(t, all[1:]))
	stale := slices.Clone(all)
	stale[0].ID = "createNothing"
	require.Contains(t, problems(t, stale), "createNothing is not "+all[0].Route)
	silent := slices.Clone(all)
	silent[0].Audit, silent[1].Refused = "", ""
	require.Equal(t, []string{all[0].ID + " has no audit entry", all[1].ID + " has no refused body"}, problems(t, silent))
}

func whole(t testing.TB) (*testkit.Kit, *specimen.Maker) {
	t.Helper()
	k := testkit.Shared(t)
	rows, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = rows.Close(t.Context()) })
	return k, specimen.NewMaker(k.Org(t), rows, "specimen")
}

func TestRefusedBodiesAreRefusedAtTheirPlace(t *testing.T) {
	t.Parallel()
	_, m := whole(t)
	for _, o := range specimen.Operations() {
		if o.Refused != "" {
			status, places := m.Reject(t, o)
			require.Equal(t, http.StatusBadRequest, status, o.ID)
			require.Equal(t, []string{o.At}, places, o.ID)
		}
	}
}

func TestEverythingFillsEveryTable(t *testing.T) {
	t.Parallel()
	k, m := whole(t)
	m.Everything(t)
	k.App.Tenancy.FlushMeter(t.Context())
	rows, err := m.Rows.Query(t.Context(), `
		SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for _, table := range tables {
		var n int
		require.NoError(t, m.Rows.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" WHERE org_id = $1", m.Client.Org).Scan(&n), table)
		require.Positive(t, n, "%s has no row: add one to its area", table)
	}
}
