package evidence

import (
	"context"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

func init() {
	hooked[kind.PolicyDecisions] = hooks{begin: func(_ context.Context, r *Record) {
		r.Values[kind.FieldAllowed] = kind.BooleanValue(r.Values.Decision() == "allow")
	}}
}
