package normal

import (
	"strings"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// nativePrefix begins the type of an event that is a record.
const nativePrefix = "agent-evidence."

// readNative reads a record as it is posted. What is wrong with it is wrong with the
// event.
func (n *normalizer) readNative() {
	name, ok := strings.CutPrefix(n.event.Type, nativePrefix)
	k, known := kind.Find(name)
	switch {
	case !ok || !known:
		n.refuse("/type", "enum", "must be "+nativePrefix+" and the name of a kind of evidence")
		return
	case !k.Postable():
		n.refuse("/type", "enum", "records of "+string(k.Name)+" cannot be sent; use "+k.Use)
		return
	}
	draft, fields := kind.ReadChecked(k, n.event.Data, false)
	for _, f := range fields {
		f.Path = "/data" + f.Path
		n.fields = append(n.fields, f)
	}
	if len(fields) > 0 {
		return
	}
	for _, name := range draft.Ignored {
		n.warn(name + " is ignored: only the platform sets it")
	}
	b := &body{n: n, kind: k, values: draft.Values}
	if b.values[kind.FieldRuntimeKey] == nil && b.values[kind.FieldRuntimeID] == nil {
		b.key(kind.FieldRuntimeKey, n.runtime)
	}
	if b.values[kind.FieldOccurredAt] == nil {
		b.time(kind.FieldOccurredAt, n.event.Time)
	}
	for !b.fits() {
		if !b.shrink() {
			return
		}
	}
	n.add(Report{Draft: draft})
}
