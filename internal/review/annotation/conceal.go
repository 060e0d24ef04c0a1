package annotation

import "github.com/assayhq/assay/internal/core/principal"

// manages reports whether a caller may know where the items of a blind task are from
// while people answer them: a run or a trace names the model. Annotators and viewers
// may not; who makes tasks knows it anyway.
func manages(c principal.Caller) bool {
	return c.Role != principal.Annotator && c.Role != principal.Viewer
}

// conceal leaves of a subject what does not name a model.
func (s Subject) conceal() Subject { return Subject{TestCase: s.TestCase} }

// seenBy is the annotation as a caller may see it: without where its item is from,
// while it is closed because others still answer that.
func (a Annotation) seenBy(c principal.Caller) Annotation {
	if a.Item != 0 && !a.Open && !manages(c) {
		a.Subject = a.conceal()
	}
	return a
}

// seenBy is the item as a caller may see it.
func (r Read) seenBy(c principal.Caller) Item {
	if r.Blind && !manages(c) {
		r.Subject = r.conceal()
	}
	return r.Item
}

// seenBy is the task as a caller may see it.
func (t Task) seenBy(c principal.Caller) Task {
	if t.Blind && t.Completed < t.Total && !manages(c) {
		t.Source = nil
	}
	return t
}
