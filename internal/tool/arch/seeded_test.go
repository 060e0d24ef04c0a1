package arch_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/tool/arch"
)

// clean is a small repository that keeps every law.
var clean = map[string]string{
	"cmd/assay/main.go":                              code("main", "internal/app"),
	"internal/app/main.go":                           code("app", "internal/tenancy", "internal/dataset", "internal/httpapi"),
	"internal/command/cli/trace.go":                  code("cli", "internal/command/client", "internal/command/terminal", "internal/measure/requirement", "internal/measure/stat"),
	"internal/command/client/trace.go":               code("client", "internal/core/fault"),
	"internal/measure/requirement/gate.go":           code("requirement", "internal/measure/stat"),
	"internal/measure/metric/metric.go":              code("metric", "internal/core/schema"),
	"internal/core/schema/schema.go":                 code("schema"),
	"internal/measure/stat/stat.go":                  code("stat"),
	"internal/command/terminal/tree.go":              code("terminal"),
	"internal/test/testkit/kit.go":                   code("testkit", "internal/app", "internal/dataset"),
	"internal/core/fault/fault.go":                   code("fault"),
	"internal/core/principal/principal.go":           code("principal"),
	"internal/core/request/request.go":               code("request"),
	"internal/httpapi/edge.go":                       code("httpapi", "net/http", "github.com/danielgtaylor/huma/v2/adapters/humachi", "github.com/go-chi/chi/v5", "internal/core/fault", "internal/core/principal", "internal/core/request"),
	"internal/httpapi/otlp/http.go":                  code("otlp", "internal/httpapi"),
	"internal/change/change.go":                      code("change", "internal/core/request", "internal/platform/postgres", "internal/change/internal/db"),
	"internal/change/internal/db/db.go":              code("db", "github.com/jackc/pgx/v5"),
	"internal/platform/postgres/tx.go":               code("postgres", "internal/core/fault", "github.com/jackc/pgx/v5"),
	"internal/platform/clickhouse/pool.go":           code("clickhouse", "internal/core/fault", "github.com/ClickHouse/clickhouse-go/v2"),
	"internal/platform/egress/client.go":             "package egress\n\nimport \"net/http\"\n\nvar Client = &http.Client{}\n",
	"internal/tenancy/doc.go":                        code("tenancy"),
	"internal/tenancy/key.go":                        code("tenancy", "internal/core/fault", "internal/change", "internal/platform/postgres"),
	"internal/tenancy/store.go":                      code("tenancy", "internal/tenancy/internal/db", "github.com/jackc/pgx/v5/pgtype"),
	"internal/tenancy/internal/db/db.go":             code("db", "github.com/jackc/pgx/v5"),
	"internal/dataset/doc.go":                        code("dataset"),
	"internal/dataset/http.go":                       code("dataset", "net/http", "github.com/danielgtaylor/huma/v2", "internal/httpapi"),
	"internal/dataset/dataset.go":                    code("dataset", "time", "internal/tenancy", "internal/core/fault"),
	"internal/dataset/dataset_test.go":               code("dataset_test", "net/http", "internal/dataset"),
	"internal/test/dataset/dataset_test.go":          code("dataset_test", "internal/app", "internal/test/testkit"),
	"internal/dataset/workflow_import.go":            code("dataset", "go.temporal.io/sdk/workflow"),
	"internal/agent/evidence/doc.go":                 code("evidence"),
	"internal/agent/evidence/kind/name_gen.go":       "package kind\n\nconst (\n\tRuntimes Name = \"runtimes\"\n\tFieldState = \"state\"\n)\n",
	"internal/agent/policy/doc.go":                   code("policy"),
	"internal/telemetry/span/record.go":              code("span", "internal/core/fault", "internal/telemetry/span/payload"),
	"internal/telemetry/span/payload/text.go":        code("payload"),
	"internal/telemetry/trace/doc.go":                code("trace"),
	"internal/telemetry/trace/store_span.go":         code("trace", "internal/platform/clickhouse", "internal/dataset"),
	"internal/telemetry/trace/internal/spandb/db.go": code("spandb", "internal/platform/clickhouse", "github.com/ClickHouse/clickhouse-go/v2"),
	"AGENTS.md":                  "| a query | `internal/dataset/store.sql`, then `dataset.go` |\n",
	"CONTRIBUTING.md":            "Tests that boot the application stand below `internal/test`.\n",
	"README.md":                  "internal/dataset/http.go  answers\n",
	"internal/dataset/events.go": use("dataset", arch.Module+"/internal/change/event", "var datasetNoun = event.Of(\"dataset\", \"Dataset\")\n\nvar eventCreated = datasetNoun.Public(\"dataset.created\", \"dataset.created\", \"A dataset was created.\")"),
	"docs/dataset.md":            "# Datasets\n",
	"docs/errors.md":             "| 409 `CONFLICT` | `dataset_sealed` | open it |\n",
	"db/clickhouse/migrations/0002_traces.sql": "CREATE TABLE IF NOT EXISTS {{ .Local \"spans\" }} {{ .OnCluster }} (\n",
	"internal/dataset/store.sql": `-- name: Dataset :one
-- One dataset of the organization.
SELECT id FROM datasets WHERE org_id = @org_id AND id = @id;

-- name: InsertDataset :one
-- A name is free again when its dataset is archived.
INSERT INTO datasets AS d (org_id, name) VALUES (@org_id, @name) RETURNING id;

-- name: RenameDataset :execrows
-- Nothing is renamed if the dataset is archived.
UPDATE datasets SET name = @name WHERE org_id = @org_id AND id = @id;

-- name: InsertOrganization :exec
-- The row that every org_id refers to.
INSERT INTO organizations (id, name) VALUES (@org_id, @name);

-- name: Overdue :many
-- The next organizations to sweep.
-- all orgs: the sweeper serves every organization and returns only their ids.
SELECT id FROM organizations WHERE sweep_at < now();
`,
}

// code is a file that imports the given packages; ours are given as folders.
func code(name string, imports ...string) string {
	var b strings.Builder
	b.WriteString("package " + name + "\n")
	for _, i := range imports {
		if strings.HasPrefix(i, "internal/") || i == "db" {
			i = arch.Module + "/" + i
		}
		b.WriteString("import _ \"" + i + "\"\n")
	}
	return b.String()
}

func use(name, library, body string) string {
	return "package " + name + "\n\nimport \"" + library + "\"\n\n" + body + "\n"
}

// stored is a file of a store with a function that has this body.
func stored(body string) string {
	return use("dataset", arch.Module+"/internal/dataset/internal/db", "func keep() {\n\t"+body+"\n}")
}

// seed is a file that is added to the clean repository, and where the violation
// is reported; that is the file itself unless at says otherwise.
type seed struct {
	law, file, content, at string
	also                   map[string]string // more files, which keep the laws
}

// asking is a service that asks another area's.
const asking = "package dataset\n\nimport \"" + arch.Module + "/internal/tenancy\"\n\ntype Service struct{ tenancy *tenancy.Service }\n"

// knotFile is a file of 550 lines with a function that calls others.
func knotFile(name string, calls ...string) string {
	return "package change\n\nfunc " + name + "() { " + strings.Join(calls, "(); ") + "() }\n" + long[:8*550]
}

// withMethods is a type with so many methods.
func withMethods(n int) string {
	var b strings.Builder
	b.WriteString("package dataset\n\ntype all struct{}\n")
	for i := range n {
		fmt.Fprintf(&b, "\nfunc (a *all) m%d() {}\n", i)
	}
	return b.String()
}

var long = strings.Repeat("// line\n", 1000)

var seeds = []seed{
	{law: "layer-outbound", file: "internal/dataset/item.go", content: code("dataset", "net/http")},
	{law: "layer-http", file: "internal/dataset/outbound.go", content: code("dataset", "internal/httpapi")},
	{law: "inbound", file: "internal/dataset/http_item.go", content: code("dataset", "internal/platform/egress")},
	{law: "layer-http", file: "internal/dataset/item.go", content: code("dataset", "github.com/danielgtaylor/huma/v2")},
	{law: "layer-http", file: "internal/dataset/store.go", content: code("dataset", "internal/httpapi")},
	{law: "layer-store", file: "internal/dataset/http_item.go", content: code("dataset", "github.com/jackc/pgx/v5")},
	{law: "layer-store", file: "internal/tenancy/plan.go", content: code("tenancy", "internal/tenancy/internal/db")},
	{law: "layer-store", file: "internal/tenancy/view.go", content: use("tenancy", arch.Module+"/internal/tenancy/internal/db", "type View struct{ db.View }")},
	{law: "layer-store", file: "internal/tenancy/view.go", content: "package tenancy\n\nimport (\n\t\"github.com/jackc/pgx/v5\"\n\t\"" + arch.Module + "/internal/tenancy/internal/db\"\n)\n\ntype View db.View\n\nvar none = pgx.ErrNoRows\n"},
	{law: "layer-store", file: "internal/tenancy/http_view.go", content: use("tenancy", arch.Module+"/internal/tenancy/internal/db", "type View db.View")},
	{law: "layer-store", file: "internal/telemetry/trace/span.go", content: code("trace", "internal/platform/clickhouse")},
	{law: "layer-store", file: "internal/telemetry/trace/otlp/decode.go", content: code("otlp", "github.com/ClickHouse/ch-go/proto")},
	{law: "layer-store", file: "internal/telemetry/trace/internal/list/list.go", content: code("list", "internal/platform/clickhouse")},
	{law: "layer-store", file: "internal/dataset/internal/spandb/list.go", content: code("spandb", "github.com/jackc/pgx/v5")},
	{law: "layer-http", file: "internal/telemetry/trace/internal/spandb/query.go", content: code("spandb", "internal/httpapi")},
	{law: "layer-workflow", file: "internal/dataset/item.go", content: code("dataset", "go.temporal.io/sdk/client")},
	{law: "clickhouse", file: "internal/dataset/store_item.go", content: code("dataset", "internal/platform/clickhouse")},
	{law: "doors", file: "internal/core/request/info.go", content: code("request", "internal/platform/postgres")},
	{law: "doors", file: "internal/core/schema/item.go", content: code("schema", "internal/measure/metric")},
	{law: "doors", file: "internal/platform/postgres/org.go", content: code("postgres", "internal/tenancy")},
	{law: "doors", file: "internal/platform/postgres/org.go", content: code("postgres", "internal/change")},
	{law: "doors", file: "internal/platform/postgres/data.go", content: code("postgres", "db")},
	{law: "doors", file: "internal/httpapi/page.go", content: code("httpapi", "internal/dataset")},
	{law: "doors", file: "internal/httpapi/page.go", content: code("httpapi", "internal/platform/postgres")},
	{law: "doors", file: "internal/httpapi/otlp/rpc.go", content: code("otlp", "internal/dataset")},
	{law: "doors", file: "internal/measure/consensus/item.go", content: code("consensus", "internal/review/annotation")},
	{law: "doors", file: "internal/measure/requirement/run.go", content: code("requirement", "internal/command/client")},
	{law: "doors", file: "internal/change/http.go", content: code("change", "internal/httpapi")},
	{law: "doors", file: "internal/tenancy/plan.go", content: code("tenancy", "internal/dataset")},
	{law: "doors", file: "internal/tenancy/plan_test.go", content: code("tenancy_test", "internal/dataset")},
	{law: "doors", file: "internal/dataset/item.go", content: code("dataset", "internal/telemetry/trace")},
	{law: "doors", file: "internal/dataset/fetch.go", content: code("dataset", "internal/command/client")},
	{law: "doors", file: "internal/telemetry/span/store.go", content: code("span", "internal/platform/clickhouse")},
	{law: "doors", file: "internal/review/label/answer.go", content: code("label", "internal/httpapi")},
	{law: "doors", file: "internal/command/cli/run.go", content: code("cli", "internal/evaluation")},
	{law: "doors", file: "internal/command/client/tail.go", content: code("client", "internal/platform/egress")},
	{law: "doors", file: "internal/tool/gen/hash/main.go", content: code("main", "internal/dataset")},
	{law: "doors", file: "guard/guard.go", content: code("guard", "internal/core/fault")},
	{law: "framework", file: "internal/dataset/http_item.go", content: code("dataset", "github.com/danielgtaylor/huma/v2/adapters/humachi")},
	{law: "framework", file: "internal/app/route.go", content: code("app", "github.com/go-chi/chi/v5")},
	{law: "placed", file: "internal/cache/cache.go", content: code("cache", "internal/dataset")},
	{law: "app", file: "internal/dataset/item.go", content: code("dataset", "internal/app")},
	{law: "app", file: "internal/core/fault/all_test.go", content: code("fault_test", "internal/app")},
	{law: "testkit", file: "internal/app/seed.go", content: code("app", "internal/test/testkit")},
	{law: "client-tests", file: "internal/dataset/item_test.go", content: code("dataset_test", "internal/test/testkit")},
	{law: "client-tests", file: "internal/dataset/item_internal_test.go", content: code("dataset", "internal/test/testkit/specimen")},
	{law: "boots", file: "internal/test/dataset/item_test.go", content: "package dataset_test\n\nfunc TestAlone() {\n" + strings.Repeat("\ttestkit.Own(t, \"why\")\n", 71) + "}\n"},
	{law: "timing", file: "internal/dataset/item_test.go", content: use("dataset_test", "time", "func wait() { time.Sleep(time.Hour) }")},
	{law: "timing", file: "internal/dataset/item_test.go", content: use("dataset_test", "time", "func wait() { require.Less(t, took, 250*time.Millisecond) }")},
	{law: "timing", file: "internal/dataset/item_test.go", content: use("dataset_test", "time", "func wait() { require.Eventually(t, done, 5*time.Second, time.Millisecond) }")},
	{law: "timing", file: "internal/dataset/item_test.go", content: use("dataset_test", "time", "func wait() { require.Never(t, done, time.Minute, time.Millisecond) }")},
	{law: "bench", file: "internal/dataset/seed.go", content: code("dataset", "internal/test/bench")},
	{law: "outbound", file: "internal/platform/clock/probe.go", content: use("clock", "net/http", "var c = &http.Client{}")},
	{law: "outbound", file: "internal/platform/clock/probe.go", content: use("clock", "net/http", "var c = new(http.Client)")},
	{law: "outbound", file: "internal/platform/clock/probe.go", content: use("clock", "net/http", "var c http.Client")},
	{law: "outbound", file: "internal/platform/clock/probe.go", content: use("clock", "net/http", "var c = *http.DefaultClient")},
	{law: "outbound", file: "internal/platform/clock/probe.go", content: use("clock", "net/http", "var t = http.DefaultTransport")},
	{law: "outbound", file: "internal/platform/clock/probe.go", content: "package clock\n\nimport web \"net/http\"\n\nvar _, _ = web.Get(\"/\")\n"},
	{law: "outbound", file: "internal/platform/clock/probe.go", content: "package clock\n\nimport . \"net/http\"\n\nvar _ = StatusOK\n"},
	{law: "outbound", file: "internal/command/client/tail.go", content: use("client", "net/http", "var c = &http.Client{}")},
	{law: "outbound", file: "internal/command/terminal/draw.go", content: use("terminal", "net/http", "var _, _ = http.Get(\"/\")")},
	{law: "outbound", file: "internal/command/cli/run.go", content: use("cli", "net/http", "var c = &http.Client{}")},
	{law: "outbound", file: "internal/app/probe.go", content: use("app", "net/http", "var _, _ = http.Get(\"/\")")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "var _, _ = http.Head(\"/\")")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "var _, _ = http.Post(\"/\", \"\", nil)")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "var _, _ = http.PostForm(\"/\", nil)")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "var get = http.Get")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "var c = http.DefaultClient")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "var t http.RoundTripper = &http.Transport{}")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "type caller struct{ http.Client }")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "var c = []*http.Client{{}}")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "var c = map[string]*http.Client{\"\": {}}")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "func open(c *http.Client) { c.Transport = nil }")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http", "func open(c *http.Client) { c.CheckRedirect = nil }")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http/httputil", "var p = &httputil.ReverseProxy{}")},
	{law: "outbound", file: "internal/dataset/http_probe.go", content: use("dataset", "net/http/httputil", "var p = httputil.NewSingleHostReverseProxy(nil)")},
	{law: "outbound", file: "internal/dataset/probe.go", content: use("dataset", "net", "var _, _ = net.Dial(\"tcp\", \"\")")},
	{law: "outbound", file: "internal/dataset/probe.go", content: use("dataset", "net", "var d net.Dialer")},
	{law: "outbound", file: "internal/httpapi/probe.go", content: use("httpapi", "net", "var dial = net.DialTimeout")},
	{law: "outbound", file: "internal/dataset/probe.go", content: use("dataset", "crypto/tls", "var _, _ = tls.Dial(\"tcp\", \"\", nil)")},
	{law: "outbound", file: "internal/dataset/probe.go", content: use("dataset", "net/smtp", "var mail = smtp.SendMail")},
	{law: "outbound", file: "internal/dataset/probe.go", content: code("dataset", "golang.org/x/net/http2")},
	{law: "outbound", file: "internal/platform/clock/probe.go", content: code("clock", "github.com/go-resty/resty/v2")},
	{law: "clock", file: "internal/dataset/item.go", content: use("dataset", "time", "var started = time.Now()")},
	{law: "clock", file: "internal/dataset/item.go", content: use("dataset", "time", "var now = time.Now")},
	{law: "clock", file: "internal/change/age.go", content: use("change", "time", "func age(t time.Time) time.Duration { return time.Since(t) }")},
	{law: "names", file: "internal/platform/util/strings.go", content: code("util")},
	{law: "names", file: "internal/platform/helpers/strings.go", content: code("text")},
	{law: "size", file: "internal/app/long.go", content: "package app\n" + long[:len(long)*601/1000]},
	{law: "size", file: "internal/app/long_test.go", content: "package app_test\n" + long},
	{law: "budget", file: "internal/dataset/http_raw.go", content: "package dataset\nimport \"github.com/danielgtaylor/huma/v2\"\nfunc add() { huma.Register() }\n"},
	{law: "budget", file: "internal/dataset/workflow_worker.go", content: "package dataset\nimport \"go.temporal.io/sdk/worker\"\nvar w = worker.New(nil)\n"},
	{law: "budget", file: "internal/dataset/activity.go", content: "package dataset\ntype Purge struct{ ID int }\ntype Activities struct{}\nfunc (a *Activities) Purge(ctx int, p Purge) error { return nil }\n"},
	{law: "budget", file: "internal/dataset/activity.go", content: "package dataset\ntype Activities struct{}\nfunc (Activities) Sweep(ctx int) error { return nil }\n"},
	{law: "query-org", file: "internal/tenancy/store.sql", content: "-- name: Keys :many\n-- Keys by org_id.\nSELECT id FROM keys WHERE note = 'org_id';\n"},
	{law: "query-org", file: "internal/tenancy/store.sql", content: "-- name: Keys :many\n-- Every key.\n-- all orgs:\nSELECT id FROM keys;\n"},
	{law: "query-org", file: "internal/telemetry/trace/internal/spandb/read.go", content: "package spandb\n\nconst q = `SELECT count()\nFROM spans FINAL\nWHERE trace_id = ?`\n"},
	{law: "query-org", file: "internal/telemetry/trace/internal/spandb/read.go", content: "package spandb\n\nfunc q(where string) string { return \"SELECT org_id FROM spans WHERE \" + where }\n"},
	{law: "query-org", file: "internal/telemetry/trace/internal/spandb/read.go", content: "package spandb\n\nvar q = \"SELECT 1 FROM spans WHERE org_id = ? AND trace_id IN (\" + \"SELECT trace_id FROM spans)\"\n"},
	{law: "query-doc", file: "internal/tenancy/store.sql", content: "-- name: Keys :many\nSELECT id FROM keys WHERE org_id = @org_id;\n-- A comment that comes too late.\n"},
	{law: "query-doc", file: "internal/tenancy/store.sql", content: "-- name: Keys\n-- The kind is missing.\nSELECT id FROM keys WHERE org_id = @org_id;\n"},
	{law: "query-insert", file: "internal/tenancy/store.sql", content: "-- name: AddKey :exec\n-- A key.\nINSERT INTO keys (id) SELECT id FROM old WHERE org_id = @org_id;\n"},
	{law: "query-insert", file: "internal/tenancy/store.sql", content: "-- name: AddKey :exec\n-- A key.\nINSERT INTO keys VALUES (@org_id);\n"},
	{law: "query-insert", file: "internal/tenancy/store.sql", content: "-- name: AddOrg :exec\n-- An organization.\nINSERT INTO organizations (name) VALUES (@org_id);\n"},
	{law: "later", file: "internal/dataset/store_lot.go", content: stored("n, err := db.New(tx.Later()).RenameDataset(1)")},
	{law: "later", file: "internal/dataset/store_lot.go", content: stored("row, err := db.New(tx.Later()).Dataset(1)")},
	{law: "later", file: "internal/dataset/store_lot.go", content: stored("rows, err := db.New(s.tx.Later()).Overdue(1)")},
	{law: "later", file: "internal/dataset/store_lot.go", content: stored("err := db.New(tx.Later()).Unheard(1)")},
	{law: "later", file: "internal/dataset/store_lot.go", content: stored("q := db.New(tx.Later()); q.RenameDataset(1)")},
	{law: "later", file: "internal/dataset/store_lot.go", content: stored("q := tx.Later(); db.New(q).RenameDataset(1)")},
	{law: "later", file: "internal/dataset/store_lot.go", content: stored("take := tx.Later; db.New(take()).RenameDataset(1)")},
	{law: "later", file: "internal/dataset/store_lot.go", content: stored("send(tx.Later())")},
	{law: "later", file: "internal/dataset/store_lot.go", content: stored("rows, err := tx.Later().Query(1)")},
	{law: "domain-doc", file: "internal/telemetry/score/score.go", content: code("score"), at: "internal/telemetry/score/doc.go"},
	{law: "domain-page", file: "internal/tenancy/http.go", content: code("tenancy", "internal/httpapi"), at: "docs/tenancy.md"},
	{law: "reasons", file: "internal/dataset/lot.go", content: use("dataset", arch.Module+"/internal/core/fault", "var ErrLost = fault.New(fault.Conflict, \"lot_lost\", \"The lot is lost.\")")},
	{law: "reasons", file: "internal/dataset/lot.go", content: use("dataset", arch.Module+"/internal/core/fault", "var ErrNone = fault.New(fault.NotFound, \"lot_not_found\", \"There is no such lot.\")")},
	{law: "reasons", file: "docs/errors.md", content: "`dataset_sealed` is meant", also: map[string]string{"internal/dataset/lot.go": use("dataset", arch.Module+"/internal/core/fault", "var ErrSold = fault.New(fault.Conflict, \"dataset_sold\", \"The dataset is sold.\")")}, at: "internal/dataset/lot.go"},
	{law: "picture", file: "ARCHITECTURE.md", content: "# Architecture\n\n<!-- arrows:begin -->\n<!-- arrows:end -->\n"},
	{law: "http-service", file: "internal/dataset/http_item.go", content: "package dataset\n\nfunc (s *Service) get() { s.store.item() }\n"},
	{law: "http-service", file: "internal/dataset/http_item.go", content: "package dataset\n\nfunc (s *Service) get() { use(s.db) }\n"},
	{law: "http-service", file: "internal/dataset/http_item.go", content: "package dataset\n\nfunc (n labels) get() { n.store.item() }\n"},
	{law: "http-service", file: "internal/dataset/http_item.go", content: "package dataset\n\nfunc (s *Service) get() { s.tenancy.Key() }\n", also: map[string]string{"internal/dataset/service.go": asking}},
	{law: "http-service", file: "internal/dataset/http_item.go", content: "package dataset\n\nfunc (n labels) get() { answer(n.tenancy.Key) }\n", also: map[string]string{"internal/dataset/service.go": asking}},
	{law: "knots", file: "internal/change/one.go", content: knotFile("One", "Two", "Three"), at: "internal/change", also: map[string]string{
		"internal/change/two.go": knotFile("Two", "Three"), "internal/change/three.go": knotFile("Three", "One"),
	}},
	{law: "methods", file: "internal/dataset/item.go", content: withMethods(41), at: "internal/dataset"},
	{law: "functions", file: "internal/dataset/item.go", content: "package dataset\n\nfunc long() {\n" + long[:8*80] + "}\n"},
	{law: "columns", file: "internal/core/fault/sum.go", content: "package fault\n\nvar sum = 1" + strings.Repeat(" + 1", 33) + "\n"},
	{law: "kinds", file: "internal/agent/evidence/stop.go", content: about("if r.Kind.Name == \"runtimes\" { return }")},
	{law: "kinds", file: "internal/agent/evidence/stop.go", content: about("return r.Values.Text(\"stat\")")},
	{law: "kinds", file: "internal/agent/evidence/stop.go", content: about("r.Values[\"state\"] = nil")},
	{law: "kinds", file: "internal/agent/policy/stop.go", content: about("keep(kind.Values{\"stat\": nil})")},
	{law: "kinds", file: "internal/agent/evidence/internal/normal/body.go", content: about("b.choice(\"stat\", v.Text(\"status\"))")},
	{law: "kinds", file: "internal/agent/evidence/internal/normal/body.go", content: about("b.values[\"state\"] = v[\"state\"]")},
	{law: "documents", file: "AGENTS.md", content: "see `internal/dataset/item.go`\n"},
	{law: "documents", file: "CONTRIBUTING.md", content: "`internal/dataset`: `http.go` and `outbound.go`\n"},
	{law: "documents", file: "README.md", content: "  internal/dataset/item.go  stores\n"},
	{law: "documents", file: "docs/adr/0001-engines.md", content: "# Engines\n"},
	{law: "picture", file: "ARCHITECTURE.md", content: "# Architecture\n"},
	{law: "event-page", file: "docs/event-types.md", content: "# Event types\n"},
	{law: "event-page", file: "docs/event-types.md", content: "<!-- events:begin -->\n| `dataset.sold` | A dataset was sold. |\n<!-- events:end -->\n"},
	{law: "events", file: "internal/tenancy/member.go", content: "package tenancy\n\nvar memberNoun = event.Of(\"member\", \"Member\")\n"},
	{law: "events", file: "internal/dataset/lot.go", content: "package dataset\n\nfunc sell(s string) { record(datasetNoun.Event(\"dataset.\"+s, \"A dataset was sold.\")) }\n"},
	{law: "events", file: "internal/dataset/lot.go", content: "package dataset\n\nvar eventSold = datasetNoun.Event(\"dataset.sold\", \"A dataset was sold.\")\n"},
	{law: "events", file: "internal/tenancy/events.go", content: declared(`Event("member."+added, "A member was added.")`)},
	{law: "events", file: "internal/tenancy/events.go", content: declared(`Event("members.added", "A member was added.")`)},
	{law: "events", file: "internal/tenancy/events.go", content: declared(`Event("member.was.added", "A member was added.")`)},
	{law: "events", file: "internal/tenancy/events.go", content: declared(`Event("member.added", "added")`)},
	{law: "events", file: "internal/tenancy/events.go", content: declared(`Public("member.added", "MemberAdded", "A member was added.")`)},
	{law: "events", file: "internal/tenancy/events.go", content: declared(`Public("member.added", "dataset.created", "A member was added.")`)},
	{law: "events", file: "internal/tenancy/events.go", content: declared(`Event("member.added", "A member was added.")`, `Event("member.added", "A member was added.")`)},
	{law: "events", file: "internal/tool/arch/event.go", content: "package arch\n"},
}

// about is a file with a function that has this body.
func about(body string) string { return "package evidence\n\nfunc about() {\n\t" + body + "\n}\n" }

// declared is an events.go with events of members.
func declared(events ...string) string {
	var b strings.Builder
	b.WriteString("package tenancy\n\nvar memberNoun = event.Of(\"member\", \"Member\")\n")
	for i, e := range events {
		fmt.Fprintf(&b, "\nvar event%d = memberNoun.%s\n", i, e)
	}
	return b.String()
}

// innocent files are near a law's edge and on its right side.
var innocent = map[string]string{
	"internal/dataset/http_item.go":                    code("dataset", "net/http", "internal/platform/postgres"),
	"internal/tenancy/view.go":                         use("tenancy", arch.Module+"/internal/tenancy/internal/db", "type View db.View\n\nvar viewNoun = event.Of(\"view\", \"View\")\n\nvar eventViewSaved = viewNoun.Event(\"view.saved\", \"A view was saved.\")"),
	"internal/dataset/outbound_item.go":                code("dataset", "net/http", "internal/platform/egress"),
	"internal/dataset/activity.go":                     "package dataset\nimport _ \"go.temporal.io/sdk/activity\"\ntype Activities struct{}\nfunc (a *Activities) Sweep(ctx int, p Sweep) error { return nil }\n",
	"internal/dataset/sweep.go":                        "package dataset\ntype Sweep struct{ Ticket }\ntype Ticket struct{ Org int }\n",
	"internal/telemetry/trace/internal/spandb/read.go": "package spandb\n\nconst of = \" WHERE org_id = ?\"\n\nfunc q() string {\n\tin := \"AND org_id = ?\"\n\treturn \"SELECT 1 FROM spans\" + of + \" AND id IN (SELECT id FROM spans WHERE 1\" + in + \")\"\n}\n",
	"internal/agent/evidence/state.go":                 about("use(r.Values.Text(kind.FieldState), kind.Values{\"\": v}, words[\"suspended\"], \"state\")"),
	"internal/agent/evidence/internal/normal/read.go":  about("b.choice(kind.FieldState, v.Text(\"state\")); use(v[\"state\"])"),
	"internal/dataset/item_test.go":                    use("dataset_test", "time", "var started = time.Now()"),
	"internal/platform/llm/gen.go":                     "// Code generated by a tool. DO NOT EDIT.\n\npackage llm\n" + strings.Repeat(long, 6),
	"internal/app/client.go":                           use("app", "net/http", "func fetch(c *http.Client) {}"),
	"internal/command/client/client.go":                use("client", "net/http", "var c = &http.Client{}"),
	"internal/app/user.go":                             code("app", "internal/command/cli"),
	"internal/app/commands.go":                         use("app", "net/http", "var self = &http.Client{}"),
	"internal/dataset/http_list.go":                    use("dataset", "net/http", "var clients []*http.Client"),
	"internal/dataset/store_name.go":                   stored("if err := db.New(tx.Later()).InsertOrganization(1); err != nil { return }\n\tdb.New(tx).RenameDataset(1)"),
	"internal/dataset/service.go":                      asking,
	"internal/dataset/http_name.go":                    "package dataset\n\nfunc (s *Service) names() { s.tenancy.Actors(); s.now.Add(1); show(s.tenancy) }\n",
	"internal/dataset/seal.go":                         use("dataset", arch.Module+"/internal/core/fault", "var ErrSealed = fault.New(fault.Conflict, \"dataset_sealed\", \"The dataset is sealed.\")"),
	"internal/core/fault/text.go":                      "package fault\n\nvar text, sum = \"" + strings.Repeat("x", 200) + "\", 1" + strings.Repeat(" + 1", 29) + "\n",
	"internal/change/large.go":                         knotFile("Large", "Larger"),
	"internal/change/larger.go":                        knotFile("Larger", "Small"),
	"internal/change/small.go":                         knotFile("Small", "Large")[:2400],
	"internal/dataset/many.go":                         withMethods(40),
	"internal/dataset/address.go":                      use("dataset", "net", "func host(a string) { net.SplitHostPort(a) }"),
	"internal/platform/postgres/dial.go":               use("postgres", "net", "var d net.Dialer"),
	"internal/app/app_test.go":                         code("app_test", "internal/app"),
	"internal/test/app/boot_test.go":                   "package app_test\n\nfunc TestAlone() {\n" + strings.Repeat("\ttestkit.Own(t, \"why\")\n", 70) + "}\n",
	"internal/dataset/wait_test.go":                    use("dataset_test", "time", "func wait() { require.Eventually(t, done, 3*time.Minute, time.Millisecond); require.Less(t, took, 20*time.Second) }"),
	"internal/app/table.go":                            "// Code generated by a tool. DO NOT EDIT.\n\npackage app\n" + long,
	"internal/platform/clock/clock.go":                 use("clock", "time", "var now = time.Now"),
	"internal/platform/util.go":                        code("platform"),
	"internal/dataset/testdata/util/broken.go":         "not Go at all",
}

// repository is the clean one with more files in it, and with true pages unless the files
// bring their own.
func repository(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, m := range []map[string]string{clean, files} {
		for name, content := range m {
			fsys[name] = &fstest.MapFile{Data: []byte(content)}
		}
	}
	for _, page := range []string{arch.PictureFile, arch.EventPage} {
		if fsys[page] == nil {
			text, err := arch.Redraw(fsys, page)
			require.NoError(t, err)
			fsys[page] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return fsys
}

func TestCleanRepositoryHasNoViolation(t *testing.T) {
	t.Parallel()
	found, err := arch.Check(repository(t, innocent))
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestSeededViolationIsReported(t *testing.T) {
	t.Parallel()
	for _, s := range seeds {
		t.Run(s.law+" in "+s.file, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{s.file: s.content}
			maps.Copy(files, s.also)
			found, err := arch.Check(repository(t, files))
			require.NoError(t, err)
			at := s.file
			if s.at != "" {
				at = s.at
			}
			require.Len(t, found, 1, "%v", found)
			require.Equal(t, s.law, found[0].Law)
			require.Equal(t, at, found[0].File)
			require.Contains(t, found[0].String(), at)
			require.Contains(t, found[0].String(), "["+s.law+"]")
		})
	}
}

func TestEveryLawHasASeededViolation(t *testing.T) {
	t.Parallel()
	seeded := map[string]bool{}
	for _, s := range seeds {
		seeded[s.law] = true
	}
	for _, law := range arch.Laws() {
		require.True(t, seeded[law.Name], "nothing shows that law %s bites", law.Name)
		delete(seeded, law.Name)
	}
	require.Empty(t, slices.Collect(maps.Keys(seeded)), "seeds of no law")
}

func TestMissingPictureIsReported(t *testing.T) {
	t.Parallel()
	fsys := repository(t, nil)
	delete(fsys, arch.PictureFile)
	found, err := arch.Check(fsys)
	require.NoError(t, err)
	require.Equal(t, []arch.Violation{{Law: "picture", File: "ARCHITECTURE.md", Message: "is missing: run make gen"}}, found)
}

func TestFileThatDoesNotParseIsAnError(t *testing.T) {
	t.Parallel()
	fsys := repository(t, nil)
	fsys["internal/core/fault/broken.go"] = &fstest.MapFile{Data: []byte("package")}
	_, err := arch.Check(fsys)
	require.ErrorContains(t, err, "internal/core/fault/broken.go")
}
