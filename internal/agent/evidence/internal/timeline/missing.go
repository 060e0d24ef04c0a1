package timeline

// missing says what the trace as a whole lacks.
func (g *graph) missing() (list []string) {
	add := func(n int, one, many string) {
		if n > 0 {
			list = append(list, plural(n, one, many))
		}
	}
	state := map[string]int{}
	for _, i := range g.of(events) {
		state[status(&g.recs[i])]++
	}
	add(state["unmapped"], "raw event was not mapped", "raw events were not mapped")
	add(state["partially_normalized"], "raw event was mapped in part", "raw events were mapped in part")
	add(state["invalid"], "raw event could not be read", "raw events could not be read")
	add(g.unrecordedCalls(), "tool call has a step and no evidence of the call", "tool calls have a step and no evidence of the call")
	add(g.lostParents, "step is part of a step that is not recorded", "steps are part of steps that are not recorded")
	add(g.circles, "circle of records that are each part of the other", "circles of records that are each part of the other")
	return list
}

// unrecordedCalls counts the steps that call a tool and have no evidence of the call.
func (g *graph) unrecordedCalls() (n int) {
	known := map[int]bool{}
	for _, c := range g.of(calls) {
		known[g.parent[c]] = true
	}
	for _, l := range g.of(ledger) {
		known[g.parent[l]] = true
	}
	for _, i := range g.of(steps) {
		if g.recs[i].Values.PrimitiveType() == "tool_call" && !known[i] {
			n++
		}
	}
	return n
}
