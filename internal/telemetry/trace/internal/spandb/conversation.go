package spandb

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// ConversationQuery finds the traces of which a span names a conversation.
type ConversationQuery struct {
	Org   principal.OrgID
	ID    string
	In    Window
	Limit int
}

func (q ConversationQuery) sql() (string, *arguments) {
	n := forOrg(q.Org)
	q.In.set(n)
	n.set("conversation", q.ID)
	n.set("limit", q.Limit)
	return "SELECT DISTINCT trace_id\nFROM spans\nWHERE org_id = @org AND " + within + " AND conversation_id = @conversation\nLIMIT @limit", n
}

// Conversation returns the traces of which a span names a conversation.
func (s DB) Conversation(ctx context.Context, q ConversationQuery) ([]span.TraceID, error) {
	var out []span.TraceID
	err := s.read(ctx, q, func(rows scanner) error {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		out = append(out, span.TraceID([]byte(id)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find traces of conversation: %w", err)
	}
	return out, nil
}
