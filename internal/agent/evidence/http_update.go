package evidence

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func (s *Service) registerUpdates(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "updateEvidence", Method: http.MethodPatch, Path: "/api/agent-evidence/{resource}/{id}", Tag: tag, Scope: principal.TracesWrite, Status: 200, OptionalBody: true,
		Summary: "Update a record of evidence",
		Description: "Changes the fields that are sent, and moves the record to another `state` or `status`. Steps, tool invocations, side effects and failures can be changed; the states of other kinds are decided elsewhere: 403 `kind_not_changeable`. " +
			"A move that the kind does not have is 409 `invalid_transition`, with the moves that are possible. An empty body changes nothing.",
	}, s.patchRecord)
	httpapi.Register(e, httpapi.Op{
		ID: "updateRuntime", Method: http.MethodPatch, Path: "/api/agent-evidence/runtimes/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200, OptionalBody: true,
		Summary:     "Update a runtime",
		Description: "Changes the fields that are sent. Set `state` to `suspended` to stop a runtime: everything that it asks for is denied until it is `active` again, which needs a person: anyone else gets 403 `not_a_person`. A retired runtime stays retired.",
	}, s.patchRuntime)
	httpapi.Register(e, httpapi.Op{
		ID: "updateConnector", Method: http.MethodPatch, Path: "/api/agent-evidence/connectors/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200, OptionalBody: true, Person: true,
		Summary: "Update a connector",
		Description: "Changes the fields that are sent: `state`, `trust_level`, the classes of `tools`. Approving a connector, or changing `trust_level`, `tools`, `type`, `endpoint`, `auth` or `attributes`, needs a person, and so does leaving `blocked`, after which `trust_level` is `untrusted` unless it is sent: anyone else gets 403 `not_a_person`. " +
			"Approving one whose newest readiness report is missing, has failed or is about another manifest needs `override.justification`: 409 `connector_not_ready` without it.",
	}, s.patchConnector)
}

type patchInput struct {
	RecordPath
	httpapi.IfMatch
	Body reportBody
}

// patchRuntimeInput is a change of a runtime.
type patchRuntimeInput struct {
	ID string `path:"id" maxLength:"32" doc:"Id of the record."`
	httpapi.IfMatch
	Body reportBody
}

func (s *Service) patchRecord(ctx context.Context, in *patchInput) (*recordOutput, error) {
	k, id, err := in.record()
	if err != nil {
		return nil, err
	}
	if k.Changes != kind.Reporter {
		return nil, ErrNotChangeable
	}
	return s.patch(ctx, k, id, in.IfMatch, in.Body)
}

func (s *Service) patchRuntime(ctx context.Context, in *patchRuntimeInput) (*recordOutput, error) {
	return s.patchThing(ctx, kind.Runtimes, in.ID, in.IfMatch, in.Body)
}

// patchConnectorInput is a change of a connector.
type patchConnectorInput struct {
	ID string `path:"id" maxLength:"32" doc:"Id of the record."`
	httpapi.IfMatch
	Body reportBody
}

// InPerson implements httpapi.InPerson: people decide which connectors are approved and
// how far they are believed, what their tools do and where they are reached.
func (in *patchConnectorInput) InPerson() bool {
	var members kind.Values
	if json.Unmarshal([]byte(in.Body), &members) != nil {
		return false
	}
	for name := range members {
		switch kind.Snake(name) {
		case kind.FieldTrustLevel, kind.FieldTools, kind.FieldOverride, kind.FieldType, kind.FieldEndpoint, kind.FieldAuth, kind.FieldAttributes,
			"manifest_pages":
			return true
		case kind.FieldState:
			if members.Text(name) == "approved" {
				return true
			}
		}
	}
	return false
}

func (s *Service) patchConnector(ctx context.Context, in *patchConnectorInput) (*recordOutput, error) {
	return s.patchThing(ctx, kind.Connectors, in.ID, in.IfMatch, in.Body, kind.FieldTrustLevel)
}

// patchThing changes a thing of which people decide.
func (s *Service) patchThing(ctx context.Context, name kind.Name, text string, match httpapi.IfMatch, body reportBody, may ...string) (*recordOutput, error) {
	id, ok := httpapi.ParseID(text)
	if !ok {
		return nil, ErrNotFound
	}
	return s.patch(ctx, kind.Must(name), id, match, body, may...)
}

// patch changes a record.
func (s *Service) patch(ctx context.Context, k *kind.Kind, id int64, match httpapi.IfMatch, body reportBody, may ...string) (*recordOutput, error) {
	org := principal.From(ctx).Org
	e, err := readEdit(k, jsontext.Value(body), may...)
	if err != nil {
		return nil, err
	}
	cleaner, err := s.Cleaner(ctx, org)
	if err != nil {
		return nil, err
	}
	cleaner.edit(&e)
	expected, err := match.Expected(e.expected)
	if err != nil {
		return nil, err
	}
	if k.Class == kind.Stream {
		if out, err := change.Recall[recordOutput](ctx, s.log); out != nil || err != nil {
			return out, err
		}
		r, err := s.updateStream(ctx, org, k, id, expected, e)
		if err != nil {
			return nil, err
		}
		return change.Remember(ctx, s.log, toRecordOutput(&r, e.ignored)), nil
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*recordOutput, error) {
		r, err := s.updateTx(ctx, tx, k, id, expected, e)
		if err != nil {
			return nil, err
		}
		return toRecordOutput(&r, e.ignored), nil
	})
}
