package normal

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// Class is what a tool does to the world, as the hints of its server have it: annotations
// as records keep them, or as MCP names them. A hint that is missing has the protocol's
// default: not read-only, destructive. A server that is not trusted cannot make a tool
// harmless by calling it read-only. Without annotations the class is unknown.
func Class(annotations kind.Values, trusted bool) string {
	if annotations == nil {
		return "unknown"
	}
	return hintsOf(annotations).class(trusted)
}

// hints are what an MCP server says about a tool; nil is a hint that it does not give.
type hints struct{ readOnly, destructive, idempotent, openWorld *bool }

// hintsOf reads the annotations of a tool.
func hintsOf(v kind.Values) hints {
	read := func(names ...string) *bool {
		switch k := either(v, names...).Kind(); k {
		case 't', 'f':
			yes := k == 't'
			return &yes
		}
		return nil
	}
	return hints{
		readOnly: read("read_only", "readOnlyHint"), destructive: read("destructive", "destructiveHint"),
		idempotent: read("idempotent", "idempotentHint"), openWorld: read("open_world", "openWorldHint"),
	}
}

func (h hints) class(trusted bool) string {
	switch {
	case trusted && is(h.readOnly, false):
		return "read"
	case is(h.destructive, true):
		return "delete"
	default:
		return "create"
	}
}

// value is the hints that are given; nothing if there are none.
func (h hints) value() jsontext.Value {
	out := kind.Values{}
	for name, said := range map[string]*bool{
		kind.FieldReadOnly: h.readOnly, kind.FieldDestructive: h.destructive,
		kind.FieldIdempotent: h.idempotent, kind.FieldOpenWorld: h.openWorld,
	} {
		if said != nil {
			out[name] = kind.BooleanValue(*said)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out.JSON()
}

// is reads a hint that may be missing.
func is(h *bool, otherwise bool) bool {
	if h == nil {
		return otherwise
	}
	return *h
}
