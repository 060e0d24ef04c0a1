package effect

import (
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// reversibilities are in the order of what can go wrong. What is not known might be undone;
// what is irreversible cannot.
var reversibilities = []string{"reversible", "compensable", "unknown", "irreversible"}

// Believe corrects what a report says about the risk of a side effect by what the decision
// about it and its connector's catalogue say, if that is worse. What was reported is kept.
func Believe(r, d *record.Record, connector kind.Values) {
	class, reversibility := review.Tool(connector, r.Values.Operation())
	if d.ID != 0 && d.Origin == record.Platform && about(r, d) {
		decided, reversible := d.Values.SideEffectClass(), d.Values.Reversibility()
		worse(r.Values, kind.FieldSideEffectClass, decided, kind.SideEffects)
		worse(r.Values, kind.FieldReversibility, reversible, reversibilities)
		if decided == "unknown" && Harmless(r.Values) {
			replace(r.Values, kind.FieldSideEffectClass, decided) // what the platform does not know is not harmless
		}
	}
	worse(r.Values, kind.FieldSideEffectClass, class, kind.SideEffects)
	worse(r.Values, kind.FieldReversibility, reversibility, reversibilities)
}

// worse sets a field to what is known, if that comes later in an order.
func worse(v kind.Values, field, known string, order []string) {
	if known != "unknown" && slices.Index(order, known) > slices.Index(order, v.Text(field)) {
		replace(v, field, known)
	}
}

// replace sets a field, and keeps what was reported first.
func replace(v kind.Values, field, known string) {
	if was := v[field]; was != nil && v["reported_"+field] == nil {
		v["reported_"+field] = was
	}
	v[field] = kind.TextValue(known)
}
