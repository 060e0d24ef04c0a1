package trace

import (
	"context"

	"github.com/assayhq/assay/internal/principal"
)

// ListConversations returns conversations of which a trace starts in some time,
// those with the newest activity first.
func (s *Service) ListConversations(ctx context.Context, org principal.OrgID, f ConversationFilter, p ConversationPage) (ListedConversations, error) {
	return s.store.ListConversations(ctx, org, f, p, s.now())
}

// CountConversations returns how many conversations were active.
func (s *Service) CountConversations(ctx context.Context, org principal.OrgID, f ConversationFilter) (int64, error) {
	return s.store.TotalConversations(ctx, org, f, s.now())
}
