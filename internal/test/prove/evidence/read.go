package evidence

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// record is a record as the API shows it, with the fields that are checked.
type record struct {
	ID             int64          `json:"id"`
	Resource       string         `json:"resource"`
	IdempotencyKey string         `json:"idempotency_key"`
	RuntimeKey     string         `json:"runtime_key"`
	ConnectorKey   string         `json:"connector_key"`
	TraceID        string         `json:"otel_trace_id"`
	SpanID         string         `json:"span_id"`
	Status         string         `json:"status"`
	EventID        string         `json:"event_id"`
	Source         string         `json:"source"`
	Payload        jsontext.Value `json:"payload"`
	Records        []ref          `json:"records"`
	InvocationID   string         `json:"invocation_id"`
	ToolName       string         `json:"tool_name"`
	Arguments      jsontext.Value `json:"arguments"`
	Result         jsontext.Value `json:"result"`
	Explanation    string         `json:"explanation"`
	FailureKey     string         `json:"failure_key"`
	DetectedBy     string         `json:"detected_by"`
	Occurrences    int            `json:"occurrences"`
	Version        int64          `json:"version"`
}

// stored is what an organization has.
type stored struct {
	// records are all that the API lists, by kind.
	records map[string][]record
	// totals are how many it says there are, and rows how many the tables have.
	totals, rows map[string]int
}

// read reads everything of all organizations.
func (l *load) read(ctx context.Context) (all []stored, err error) {
	for _, o := range l.orgs {
		s := stored{records: map[string][]record{}, totals: map[string]int{}}
		for _, k := range kinds {
			if s.records[k], s.totals[k], err = l.s.listed(ctx, o, k); err != nil {
				return nil, err
			}
		}
		if s.rows, err = l.s.rows(ctx, o); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// listed reads all records of a kind, page by page.
func (s *system) listed(ctx context.Context, o rig.Organization, kind string) (all []record, total int, err error) {
	q := url.Values{"limit": {"1000"}, "includeTotal": {"true"}}
	for {
		var page struct {
			Records []record `json:"records"`
			Next    string   `json:"next_cursor"`
			Total   int      `json:"total"`
		}
		if err := s.Insist(ctx, o, http.MethodGet, "/api/agent-evidence/"+kind+"?"+q.Encode(), "", nil, &page); err != nil {
			return nil, 0, err
		}
		if q.Has("includeTotal") {
			total = page.Total
			q.Del("includeTotal")
		}
		all = append(all, page.Records...)
		if page.Next == "" {
			return all, total, nil
		}
		q.Set("cursor", page.Next)
	}
}

// rows counts the records of an organization in the tables themselves, by kind.
func (s *system) rows(ctx context.Context, o rig.Organization) (map[string]int, error) {
	out := map[string]int{}
	id, err := uuid.Parse(o.ID)
	if err != nil {
		return nil, err
	}
	found, err := s.stream.Query(ctx, "SELECT kind, toInt64(uniqExact(id)) FROM evidence WHERE org_id = ? GROUP BY kind", id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var kind string
		var n int64
		if err := found.Scan(&kind, &n); err != nil {
			return nil, err
		}
		out[kind] += int(n)
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	return out, s.lasting(ctx, o, out)
}

// lasting counts the records that PostgreSQL has.
func (s *system) lasting(ctx context.Context, o rig.Organization, out map[string]int) error {
	cfg, err := pgx.ParseConfig(s.Engine["ASSAY_POSTGRES_OWNER_URL"])
	if err != nil {
		return err
	}
	cfg.RuntimeParams["app.org"] = o.ID
	db, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(ctx) }()
	found, err := db.Query(ctx, "SELECT kind, count(*) FROM evidence_records WHERE org_id = $1 GROUP BY kind", o.ID)
	if err != nil {
		return err
	}
	type row struct {
		Kind string
		N    int
	}
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[row])
	if err != nil {
		return fmt.Errorf("count records: %w", err)
	}
	for _, r := range all {
		out[r.Kind] += r.N
	}
	return nil
}
