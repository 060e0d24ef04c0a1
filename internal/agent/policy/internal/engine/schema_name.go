package engine

import (
	"slices"
	"strings"
)

// connector looks at the key of a connector. One that nobody has registered may be later.
func (r *reviewer) connector(key string, at token) {
	r.mentions.add(&r.mentions.Connectors, key)
	if r.names == nil || !slices.Contains(r.mentions.Connectors, key) {
		return
	}
	if _, ok := r.names.Tools[key]; !ok {
		near := r.nearest(key, r.keys)
		r.remark(at, UnknownConnector, key, false, "no connector has the key %q%s", key, meant(near))
	}
}

// runtime looks at the key of a runtime. One that nobody has heard of may come.
func (r *reviewer) runtime(key string, at token) {
	r.mentions.add(&r.mentions.Runtimes, key)
	if r.names == nil || !slices.Contains(r.mentions.Runtimes, key) || r.names.Runtimes[key] {
		return
	}
	near := r.nearest(key, r.runtimes)
	r.remark(at, UnknownRuntime, key, false, "no runtime has the key %q%s", key, meant(near))
}

// tool looks at the id of a tool. It is refused if its connector says which tools it has, and
// this is none of them.
func (r *reviewer) tool(id string, at token) {
	r.mentions.tool(id)
	if r.names == nil {
		return
	}
	key, name, ok := SplitTool(id)
	if !ok {
		r.remark(at, UnknownTool, id, false, "the id of a tool is connector/tool, and %q has no connector", id)
		return
	}
	var others []string
	known := false
	for connector, tool := range Splits(id) {
		tools, there := r.names.Tools[connector]
		if there && (tools == nil || slices.Contains(tools, tool)) {
			return
		}
		if there && !known {
			key, name, others, known = connector, tool, tools, true
		}
	}
	if !known {
		r.connector(key, at)
		return
	}
	r.remark(at, UnknownTool, id, true, "the connector %q has no tool %q%s", key, name, meant(r.nearest(name, others)))
}

// toolName looks at the name of a tool whose connector the statement may say.
func (r *reviewer) toolName(name string, at token) {
	r.mentions.Tool = r.mentions.Tool || len(r.connectors) == 0
	if r.names == nil || name == "" {
		return
	}
	if len(r.connectors) == 0 {
		r.anyTool(name, at)
		return
	}
	var others []string
	for _, key := range r.connectors {
		tools, there := r.names.Tools[key]
		if !there || tools == nil || slices.Contains(tools, name) {
			return
		}
		others = append(others, tools...)
	}
	r.remark(at, UnknownTool, strings.Join(r.connectors, ",")+"/"+name, true, "the connector %q has no tool %q%s", strings.Join(r.connectors, `", "`), name, meant(r.nearest(name, others)))
}

// anyTool looks at the name of a tool of whatever connector. It is remarked on if no connector
// has it, and either all say which they have or one has a tool that is nearly called so.
func (r *reviewer) anyTool(name string, at token) {
	if r.names.Partial {
		return
	}
	if slices.Contains(r.tools, name) {
		return
	}
	silent := len(r.keys) == 0 || slices.ContainsFunc(r.keys, func(key string) bool { return r.names.Tools[key] == nil })
	if near := r.nearest(name, r.tools); near != "" || !silent {
		r.remark(at, UnknownTool, name, false, "no connector has a tool %q%s", name, meant(near))
	}
}
