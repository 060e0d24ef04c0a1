package postgres

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/assayhq/assay/internal/core/principal"
)

// sendIDs has identifiers sent as the sixteen bytes that they are. Otherwise the driver
// asks for their text and parses it, for every statement that names an organization.
func sendIDs(conn *pgx.Conn) {
	m := conn.TypeMap()
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapID}, m.TryWrapEncodePlanFuncs...)
}

func wrapID(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	if id, ok := asUUID(value); ok {
		return &idPlan{}, id, true
	}
	return nil, nil, false
}

// asUUID is an identifier as the driver knows it.
func asUUID(value any) (id pgtype.UUID, ok bool) {
	switch v := value.(type) {
	case principal.OrgID:
		return pgtype.UUID{Bytes: v, Valid: true}, true
	case uuid.UUID:
		return pgtype.UUID{Bytes: v, Valid: true}, true
	}
	return id, false
}

// idPlan encodes an identifier as the plan of the driver's own type does.
type idPlan struct{ next pgtype.EncodePlan }

func (p *idPlan) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *idPlan) Encode(value any, buf []byte) ([]byte, error) {
	id, _ := asUUID(value)
	return p.next.Encode(id, buf)
}
