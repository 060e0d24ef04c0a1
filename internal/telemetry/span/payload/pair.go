package payload

// pair reads a message that is a list of two, who speaks and what they say:
// ["user", "Where is it?"]. That is how LangGraph and LangChain take messages,
// and how a graph's state shows them before they become objects. who is roleNone
// for any other list; content is where the second element is, and end after the
// list.
func pair(b []byte, i int) (who role, content, end int) {
	w := Walk(b, i)
	if !w.Next() || b[w.At] != '"' {
		return roleNone, -1, -1
	}
	after := StringEnd(b, w.At)
	if after < 0 {
		return roleNone, -1, -1
	}
	switch string(b[w.At+1 : after-1]) {
	case "user", "human":
		who = roleUser
	case "ai", "assistant":
		who = roleAssistant
	case "system":
		who = roleOther
	default:
		return roleNone, -1, -1
	}
	w.Skip()
	if !w.Next() || b[w.At] != '"' && b[w.At] != '[' {
		return roleNone, -1, -1
	}
	content = w.At
	if w.Skip(); w.Next() || w.end < 0 {
		return roleNone, -1, -1
	}
	return who, content, w.end
}

// message collects the message that begins at i and returns the position after
// it, or -1.
func (g *collector) message(b []byte, i int) int {
	if i < len(b) && b[i] == '[' {
		if who, content, end := pair(b, i); who != roleNone {
			g.value(b, content, collectWords, 0)
			return end
		}
	}
	return g.value(b, i, collectNamed, 0)
}
