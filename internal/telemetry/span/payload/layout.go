package payload

import "bytes"

// shape is what a payload turns out to be.
type shape uint8

const (
	shapeText     shape = iota // no JSON, or a number: the text itself
	shapeQuoted                // one JSON string
	shapeJSON                  // JSON that holds no messages
	shapeMessages              // a list of messages, or one message
)

// layout is where in a payload its messages are. It is made in one pass that
// decodes nothing.
type layout struct {
	shape shape
	// from is where the first message is that comes after the last answer; all
	// before were new in an earlier span.
	from int
	// first is where the first message is.
	first int
	// user is where the last message of a user is, or -1; after is where the
	// message behind it is, or -1.
	user, after int
}

// layoutCache is the layout of the payload that lies at a place.
type layoutCache struct {
	layout
	at *byte
	n  int
}

// of finds the layout of a payload once, however often it is asked.
func (s *layoutCache) of(b []byte) layout {
	if len(b) == 0 {
		return layout{user: -1, after: -1}
	}
	if s.at != &b[0] || s.n != len(b) {
		s.layout, s.at, s.n = findLayout(b), &b[0], len(b)
	}
	return s.layout
}

// findLayout finds the layout of a payload.
func findLayout(b []byte) layout {
	none := layout{user: -1, after: -1}
	at := SkipSpace(b, 0)
	if at >= len(b) {
		return none
	}
	if b[at] == '[' {
		if s, ok := answerLayout(b, at); ok {
			return s
		}
		if len(b) >= longList {
			if s, ok := layoutFromEnd(b, at); ok {
				return s
			}
		}
	}
	s, end := none, -1
	switch b[at] {
	case '"':
		s.shape, s.first = shapeQuoted, at
		end = StringEnd(b, at)
	case '[':
		s, end = listLayout(b, at, 0, false)
	case '{':
		s, end = objectLayout(b, at, 0)
	}
	if end < 0 || SkipSpace(b, end) != len(b) {
		return none
	}
	return s
}

// maxLists is how deep lists of messages may lie in a payload: LangChain has
// {"input":{"messages":[[…]]}}.
const maxLists = 3

// listLayout finds the layout of the list that begins at i; end is after it, or
// -1. pairs says that it is known to be of messages, so that a pair may be one.
func listLayout(b []byte, i, depth int, pairs bool) (s layout, end int) {
	s = layout{shape: shapeJSON, user: -1, after: -1}
	answered, followsUser := false, false
	w := Walk(b, i)
	for w.Next() {
		var role role
		switch b[w.At] {
		case '{':
			role, w.i = roleOf(b, w.At, 0)
		case '[':
			if pairs {
				var after int
				if role, _, after = pair(b, w.At); role != roleNone {
					w.i = after
					break
				}
			}
			if s.shape == shapeMessages || depth >= maxLists {
				w.Skip()
				continue
			}
			var in layout
			if in, w.i = listLayout(b, w.At, depth+1, pairs); in.shape == shapeMessages {
				s = in
			}
			continue
		default:
			w.Skip()
			continue
		}
		if role == roleNone {
			continue
		}
		if s.shape != shapeMessages {
			s.shape, s.first, s.from = shapeMessages, w.At, w.At
		}
		if followsUser {
			s.after = w.At
		}
		switch {
		case role == roleAssistant:
			answered = true
		case answered:
			s.from, answered = w.At, false
		}
		if followsUser = role == roleUser; followsUser {
			s.user, s.after = w.At, -1
		}
	}
	return s, w.end
}

// longList is from which size on a list of messages is read from its end: the
// last answer and the last user are there, and a conversation is long.
const longList = 2 << 10

// layoutFromEnd reads the list of messages that begins at i and is all of b,
// from its end and only as far as needed. What it does not read may be
// anything; whatever it reads and does not understand it leaves to lookList.
func layoutFromEnd(b []byte, i int) (s layout, ok bool) {
	s = layout{shape: shapeMessages, first: SkipSpace(b, i+1), user: -1, after: -1}
	s.from = s.first
	end := spaceBack(b, len(b))
	if end <= s.first || b[end-1] != ']' {
		return s, false
	}
	follower, follows := -1, roleNone
	answered := false
	for end = spaceBack(b, end-1); ; end = spaceBack(b, end-1) {
		at := valueStart(b, end, s.first)
		if at < 0 || b[at] != '{' {
			return s, false
		}
		who := roleAt(b, at)
		if who == roleNone {
			return s, false
		}
		if !answered && who == roleAssistant && follower >= 0 && follows != roleAssistant {
			s.from, answered = follower, true
		}
		if s.user < 0 && who == roleUser {
			s.user, s.after = at, follower
		}
		if at == s.first || answered && s.user >= 0 {
			return s, true
		}
		follower, follows = at, who
		if end = spaceBack(b, at); b[end-1] != ',' {
			return s, false
		}
	}
}

// answerLayout recognises what nearly every output is: a list of answers, with
// the role first. No user speaks in it, so there is nothing to look for.
func answerLayout(b []byte, i int) (s layout, ok bool) {
	const begins, ends = `[{"role":"assistant"`, `}]`
	if !startsWith(b[i:], begins) || !bytes.HasSuffix(b, []byte(ends)) || bytes.Contains(b[i+len(begins):], []byte(`"role"`)) {
		return s, false
	}
	return layout{shape: shapeMessages, from: i + 1, first: i + 1, user: -1, after: -1}, true
}

// objectLayout reads the object that begins at i: it may be a message, or a
// request or a response that holds messages.
func objectLayout(b []byte, i, depth int) (s layout, end int) {
	s = layout{shape: shapeJSON, user: -1, after: -1}
	w := Walk(b, i)
	for w.Next() {
		if s.shape == shapeMessages || depth >= maxLists {
			w.Skip()
			continue
		}
		switch string(w.Key) {
		case "messages", "contents", "input", "inputs", "prompt", "output", "outputs",
			"choices", "candidates", "generations", "llm_output":
			var in layout
			switch b[w.At] {
			case '[':
				in, w.i = listLayout(b, w.At, depth+1, string(w.Key) == "messages")
			case '{':
				in, w.i = objectLayout(b, w.At, depth+1)
			default:
				w.Skip()
			}
			if in.shape == shapeMessages {
				s = in
			}
		case "role":
			s = layout{shape: shapeMessages, from: i, first: i, user: -1, after: -1}
			w.Skip()
		default:
			w.Skip()
		}
	}
	return s, w.end
}

// role is who speaks in a message.
type role uint8

const (
	roleNone role = iota // it is no message
	roleOther
	roleUser
	roleAssistant
)

// roleOf finds who speaks in the object that begins at i; end is after it, or
// -1.
func roleOf(b []byte, i, depth int) (who role, end int) {
	byType, parts := roleNone, -1
	w := Walk(b, i)
	for w.Next() {
		switch string(w.Key) {
		case "role", "message.role":
			if b[w.At] == '"' {
				if w.i = StringEnd(b, w.At); w.i > 0 {
					who = roleNamed(b[w.At+1 : w.i-1])
				}
				continue
			}
		case "type":
			if b[w.At] == '"' {
				if w.i = StringEnd(b, w.At); w.i > 0 && byType == roleNone {
					byType = roleTyped(b[w.At+1 : w.i-1])
				}
				continue
			}
		case "parts":
			parts = w.At
			if byType == roleNone {
				byType = roleOther
			}
		case "message", "kwargs", "data", "content":
			if b[w.At] == '[' {
				parts = w.At
			}
			// Choices, Gemini's candidates and LangChain's generations hold the
			// message one or two levels further down.
			if b[w.At] == '{' && depth < 2 {
				var in role
				if in, w.i = roleOf(b, w.At, depth+1); in != roleNone {
					byType = in
				}
				continue
			}
		}
		w.Skip()
	}
	if who == roleNone {
		who = byType
	}
	if who == roleUser && parts >= 0 && fromTool(b, parts) {
		who = roleOther
	}
	return who, w.end
}

// fromTool reports whether the list of parts at i begins with the result of a
// tool, which some conventions send in the name of the user.
func fromTool(b []byte, i int) bool {
	if b[i] != '[' {
		return false
	}
	w := Walk(b, i)
	if !w.Next() || b[w.At] != '{' {
		return false
	}
	for m := Walk(b, w.At); m.Next(); m.Skip() {
		if string(m.Key) == "type" {
			return startsWith(b[m.At:], `"tool_`)
		}
	}
	return false
}

// roleAt is roleOf without going to the object's end, if its role comes
// first.
func roleAt(b []byte, i int) role {
	const begins = `{"role":"`
	if startsWith(b[i:], begins) {
		name := b[i+len(begins):]
		if end := bytes.IndexByte(name[:min(len(name), 16)], '"'); end >= 0 {
			if who := roleNamed(name[:end]); who != roleUser || !bytes.HasPrefix(name[end+1:], toolParts) && !bytes.HasPrefix(name[end+1:], toolContent) {
				return who
			}
			return roleOther
		}
	}
	who, _ := roleOf(b, i, 0)
	return who
}

// How messages begin, after their role, that bring results of tools.
var toolParts, toolContent = []byte(`,"parts":[{"type":"tool_`), []byte(`,"content":[{"type":"tool_`)

func roleNamed(name []byte) role {
	switch string(name) {
	case "user", "human", "User", "HUMAN", "USER":
		return roleUser
	case "assistant", "ai", "model", "AI", "ASSISTANT", "Assistant":
		return roleAssistant
	default:
		return roleOther
	}
}

// roleTyped tells the speaker of messages that have a type and no role, and
// knows the parts that messages are made of.
func roleTyped(name []byte) role {
	switch string(name) {
	case "human":
		return roleUser
	case "ai", "function_call", "reasoning", "output_text", "custom_tool_call":
		return roleAssistant
	case "system", "tool", "function", "message", "function_call_output", "custom_tool_call_output", "text", "input_text",
		"tool_use", "tool_result", "tool_call", "tool_call_response", "tool-call", "tool-result", "thinking", "image", "image_url", "refusal":
		return roleOther
	default:
		return roleNone
	}
}
