package evidence

import (
	"context"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// auditTx records what was done to a thing that lasts.
func (s *things) auditTx(ctx context.Context, tx postgres.Tx, did string, before, after *Record) error {
	r := after
	if r == nil {
		r = before
	}
	noun := "evidence_" + strings.ReplaceAll(r.Kind.One, " ", "_")
	e := change.Entry{Action: noun + "." + did, Resource: noun, ID: strconv.FormatInt(r.ID, 10)}
	if before != nil {
		e.Before = *before
	}
	if after != nil {
		e.After = *after
	}
	return s.log.AuditTx(ctx, tx, e)
}
