package evidence

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/pattern"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

const tag = "Agent evidence"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tag, "What agents wanted, were allowed, did and verifiably caused.")
	httpapi.Register(e, httpapi.Op{
		ID: "getEvidenceOverview", Method: http.MethodGet, Path: "/api/agent-evidence", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary:     "Get an overview of evidence",
		Description: "Counts the records of each kind, lists the filters of each kind, and names what needs attention. Counts of events, steps, tool invocations and explanations are exact up to about 100,000 and then within 1 %.",
	}, s.getOverview)
	httpapi.Register(e, httpapi.Op{
		ID: "listEvidence", Method: http.MethodGet, Path: "/api/agent-evidence/{resource}", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "List evidence of a kind",
		Description: "Returns records, newest first. A page of large records can have fewer than `limit`: go on as long as there is a next cursor. Filters are combined with AND; repeat a text filter to match any of several values, or separate values of `status`, `state`, `decision`, `failureMode`, `primitiveType` and `sideEffectClass` by commas. " +
			"`status` and `state` are interchangeable. A filter on a field that the kind does not have matches nothing: the list is empty, and X-Inapplicable-Filters names the filter.",
	}, s.getRecords)
	httpapi.Register(e, httpapi.Op{
		ID: "createEvidence", Method: http.MethodPost, Path: "/api/agent-evidence/{resource}", Tag: tag, Scope: principal.TracesWrite, Status: 201,
		Summary: "Report evidence",
		Description: "Stores one record of a kind; the response's schema has the fields of each kind. Names may be in camel case or snake case. Fields that the kind does not have are kept in `attributes`, and fields that only the platform sets are ignored and named in X-Ignored-Fields. " +
			"Records are recognized by `idempotencyKey`, or by what names them by nature: reporting the same again returns the same record. A report is a statement of fact and grants nothing: an approval is always posted as a request, and a runtime or a connector keeps its state. " +
			"Kinds that an action makes cannot be posted: 403 `kind_not_writable`. With `refuse`, the dispatch of a side effect that must not be sent is refused with 409 and not stored: `side_effect_unauthorized` or `side_effect_repeated`.",
	}, s.postRecord)
	httpapi.Register(e, httpapi.Op{
		ID: "getEvidence", Method: http.MethodGet, Path: "/api/agent-evidence/{resource}/{id}", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary:     "Get a record of evidence",
		Description: "Returns one record of a kind.",
	}, s.getRecord)
	pattern.RegisterHTTP(e, tag)
	s.registerNouns(e)
}

// ResourcePath is the path of a kind.
type ResourcePath struct {
	Resource string `path:"resource" maxLength:"64" doc:"Kind of evidence, for example tool-invocation-evidence. Case, hyphen or underscore, and singular or plural make no difference."`
}

func (p ResourcePath) kind() (*kind.Kind, error) {
	k, ok := kind.Find(p.Resource)
	if !ok {
		return nil, unknownKind(p.Resource)
	}
	return k, nil
}

// RecordPath is the path of a record.
type RecordPath struct {
	ResourcePath
	ID string `path:"id" maxLength:"32" doc:"Id of the record."`
}

// record is the kind and the number behind the path.
func (p RecordPath) record() (*kind.Kind, int64, error) {
	// Records are found under the name of their kind, not under its aliases.
	for i := range kind.Kinds {
		if string(kind.Kinds[i].Name) == p.Resource {
			id, ok := httpapi.ParseID(p.ID)
			if !ok {
				return nil, 0, ErrNotFound
			}
			return &kind.Kinds[i], id, nil
		}
	}
	return nil, 0, unknownKind(p.Resource)
}

// unknownKind says that there is no such kind, and which one may be meant.
func unknownKind(name string) error {
	if near, ok := kind.Nearest(name); ok {
		return ErrUnknownResource.With("nearest", string(near))
	}
	return ErrUnknownResource
}

type postInput struct {
	ResourcePath
	Refuse []string `query:"refuse,explode" enum:"unauthorized,repeated" maxItems:"2" doc:"For side-effect-ledger, which dispatches to refuse instead of storing them: unauthorized, those that need a decision and have none that allows them; repeated, those of an effect that may have happened already. Repeat the parameter for both."`
	Body   reportBody
}

type recordOutput struct {
	ETag    string `header:"ETag" doc:"The record's version, to be sent as If-Match."`
	Ignored string `header:"X-Ignored-Fields" doc:"Fields that were sent and ignored, because only the platform sets them."`
	Body    recordBody
}

type createdOutput struct {
	ETag     string `header:"ETag" doc:"The record's version, to be sent as If-Match."`
	Location string `header:"Location" doc:"Path of the record."`
	Ignored  string `header:"X-Ignored-Fields" doc:"Fields that were sent and ignored, because only the platform sets them."`
	Body     recordBody
}

func (s *Service) postRecord(ctx context.Context, in *postInput) (*createdOutput, error) {
	k, err := in.kind()
	if err != nil {
		return nil, err
	}
	if len(in.Refuse) > 0 && k.Name != kind.SideEffectLedger {
		return nil, fault.Invalid("query", "refuse", "not_applicable", "is for side-effect-ledger only")
	}
	org, header := principal.From(ctx).Org, ""
	if k.Class == kind.Stream {
		header = request.From(ctx).IdempotencyKey
		if out, err := change.Recall[createdOutput](ctx, s.log); out != nil || err != nil {
			return out, err
		}
	}
	p, err := s.Post(ctx, org, k, jsontext.Value(in.Body), header)
	if err != nil {
		return nil, err
	}
	if k.Class == kind.Stream {
		r, err := s.storePosted(ctx, org, p)
		if err != nil {
			return nil, err
		}
		if r, err = s.numbered(ctx, org, r); err != nil {
			return nil, err
		}
		return change.Remember(ctx, s.log, created(p, &r)), nil
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*createdOutput, error) {
		made, err := s.storePostedTx(ctx, tx, p, in.Refuse)
		if err != nil {
			return nil, err
		}
		return created(p, &made), nil
	})
}

// created is the answer to a report.
func created(p Posted, r *Record) *createdOutput {
	return &createdOutput{ETag: httpapi.ETag(r.Version), Location: Location(r), Ignored: strings.Join(p.Ignored, ", "), Body: toRecordBody(r)}
}

func (s *Service) getRecord(ctx context.Context, in *RecordPath) (*recordOutput, error) {
	k, id, err := in.record()
	if err != nil {
		return nil, err
	}
	r, err := s.Find(ctx, principal.From(ctx).Org, k, id)
	if err != nil {
		return nil, err
	}
	return toRecordOutput(&r, nil), nil
}

func toRecordOutput(r *Record, ignored []string) *recordOutput {
	return &recordOutput{ETag: httpapi.ETag(r.Version), Ignored: strings.Join(ignored, ", "), Body: toRecordBody(r)}
}
