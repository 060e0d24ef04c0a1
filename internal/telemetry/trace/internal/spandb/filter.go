package spandb

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/assayhq/assay/internal/telemetry/span"
)

// A filter works in two steps. Conditions on single rows find the traces that
// may match, in a window of time and with the help of indexes; what a trace
// says as a whole is then held against the filter exactly.

// Filter says which traces are meant; a zero field says nothing.
type Filter struct {
	Status         []Status // any of them
	Search         string
	ConversationID string
	UserID         string
	Environment    string
	AgentName      string
	ReleaseID      string
	Tag            string
	HasError       *bool
	// MinDuration is held against traces that have ended.
	MinDuration *time.Duration
	// StartAfter and StartBefore exclude the times themselves.
	StartAfter, StartBefore time.Time
}

// Filters reports whether the filter asks for more than a time.
func (f Filter) Filters() bool {
	return len(f.narrow()) > 0 || f.having() != ""
}

// window is the time in which the traces that are meant start.
func (f Filter) window(now time.Time) Window {
	w := Window{Low: span.Earliest, High: now.UnixMicro() + ClockAhead}
	if !f.StartAfter.IsZero() {
		w.Low = max(w.Low, f.StartAfter.UnixMicro()+1)
	}
	if !f.StartBefore.IsZero() {
		w.High = min(w.High, f.StartBefore.UnixMicro()-1)
	}
	return w
}

// values gives the statement everything that the filter compares with. idle is
// when, in milliseconds since 1970, something of a trace must have come for the
// trace to be running.
func (f Filter) values(n *arguments, idle int64) {
	statuses := make([]string, len(f.Status))
	for i, s := range f.Status {
		statuses[i] = string(s)
	}
	n.set("idle", idle)
	n.set("status", statuses)
	n.set("conversation", f.ConversationID)
	n.set("user", f.UserID)
	n.set("environment", f.Environment)
	n.set("agent", f.AgentName)
	n.set("release", f.ReleaseID)
	n.set("tag", f.Tag)
	if f.MinDuration != nil {
		n.set("duration", f.MinDuration.Microseconds())
	}
	n.set("search", f.Search)
	n.set("words", words(f.Search))
}

// narrow returns the conditions of the traces that start in the window and may
// match. None means that every trace may.
func (f Filter) narrow() []string {
	var conditions []string
	rows := func(condition string) string {
		return "SELECT trace_id FROM spans WHERE org_id = @org AND " + within + " AND " + condition
	}
	add := func(selects ...string) {
		conditions = append(conditions, "trace_id IN (\n    "+strings.Join(selects, "\n    UNION DISTINCT\n    ")+")")
	}
	for _, c := range []struct{ value, condition string }{
		{f.ConversationID, "conversation_id = @conversation"},
		{f.UserID, "user_id = @user"},
		{f.Environment, "environment = @environment"},
		{f.AgentName, "agent_name = @agent"},
		{f.ReleaseID, "release_id = @release"},
		{f.Tag, "has(tags, @tag)"},
	} {
		if c.value != "" {
			add(rows(c.condition))
		}
	}
	if f.HasError != nil && *f.HasError {
		add(rows("status = 'error'"))
	}
	if selects := f.statuses(rows); len(selects) > 0 {
		add(selects...)
	}
	if f.Search != "" {
		add(f.searches(rows)...)
	}
	return conditions
}

// statuses finds the traces that may have one of the statuses. None means that
// every trace may: nothing about a single row shows that a trace is completed.
func (f Filter) statuses(rows func(string) string) (selects []string) {
	for _, status := range f.Status {
		switch status {
		case StatusFailed:
			selects = append(selects, rows("status = 'error'"))
		case StatusRunning:
			// Something of it came a short time ago, however long after its start.
			selects = append(selects, "SELECT trace_id FROM trace_starts WHERE org_id = @org AND minute >= toDateTime(@since, 'UTC') AND last_ingest >= fromUnixTimestamp64Milli(@idle, 'UTC')")
		default:
			return nil
		}
	}
	return selects
}

// searches finds the text in what was written and answered, in attributes and
// in names.
func (f Filter) searches(rows func(string) string) []string {
	selects := []string{rows("positionCaseInsensitiveUTF8(name, @search) > 0")}
	list := words(f.Search)
	if len(list) == 0 {
		return selects
	}
	attributes := make([]string, len(list))
	for i, word := range list {
		attributes[i] = "hasAnyTokens(mapValues(attrs), " + stringArray(spellings(word)) + ")"
	}
	return append(selects,
		"SELECT trace_id FROM span_payloads WHERE org_id = @org AND "+within+" AND hasAllTokens(search_text, @words)",
		rows(strings.Join(attributes, " AND ")))
}

// maxWords is how many words of a search count.
const maxWords = 16

// words splits a text as the indexes do: at everything in ASCII that is
// neither letter nor digit. Letters of ASCII become small; the indexes know no
// case of others.
func words(text string) []string {
	list := strings.FieldsFunc(text, func(c rune) bool {
		return c <= unicode.MaxASCII && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	for i, w := range list {
		list[i] = lowerASCII(w)
	}
	return list[:min(len(list), maxWords)]
}

func lowerASCII(s string) string { return shiftASCII(s, 'A', 'a'-'A') }

func upperASCII(s string) string { return shiftASCII(s, 'a', 'A'-'a') }

// shiftASCII moves the 26 letters that begin with first.
func shiftASCII(s string, first byte, by int) string {
	b := []byte(s)
	for i, c := range b {
		if c >= first && c < first+26 {
			b[i] = byte(int(c) + by)
		}
	}
	return string(b)
}

// spellings are the ways in which attributes usually write a word; their index
// keeps case.
func spellings(word string) []string {
	return []string{word, upperASCII(word[:1]) + word[1:], upperASCII(word)}
}

// stringArray writes words as an array. They hold no character that would need
// to be escaped.
func stringArray(list []string) string { return "['" + strings.Join(list, "', '") + "']" }

// matches holds a trace as a whole against the filter, as having does.
func (f Filter) matches(m *Summary, idle int64) bool {
	for _, c := range []struct{ wanted, is string }{
		{f.ConversationID, m.conversation}, {f.UserID, m.user}, {f.Environment, m.environment}, {f.AgentName, m.agent}, {f.ReleaseID, m.release},
	} {
		if c.wanted != "" && c.wanted != c.is {
			return false
		}
	}
	status, end, failed := StatusRunning, m.first-1, m.errors > 0 || m.ended && m.failed // a trace that is running has no duration
	switch {
	case m.ended && m.failed:
		status, end = StatusFailed, m.end
	case m.ended:
		status, end = StatusCompleted, m.end
	case m.Ingested < idle:
		status, end = StatusCompleted, max(m.lastEnd, m.last)
	}
	return (f.Tag == "" || slices.Contains(m.tags, f.Tag)) &&
		(len(f.Status) == 0 || slices.Contains(f.Status, status)) &&
		(f.HasError == nil || *f.HasError == failed) &&
		(f.MinDuration == nil || end-m.first >= f.MinDuration.Microseconds())
}

// having is the condition that a trace as a whole must meet; its names are
// those of summarySQL.
func (f Filter) having() string {
	var conditions []string
	for _, c := range []struct{ value, condition string }{
		{f.ConversationID, "t_conversation = @conversation"},
		{f.UserID, "t_user = @user"},
		{f.Environment, "t_environment = @environment"},
		{f.AgentName, "t_agent = @agent"},
		{f.ReleaseID, "t_release = @release"},
		{f.Tag, "has(t_tags, @tag)"},
	} {
		if c.value != "" {
			conditions = append(conditions, c.condition)
		}
	}
	if len(f.Status) > 0 {
		conditions = append(conditions, "has(@status, multiIf(t_ended, if(t_failed, 'failed', 'completed'), t_ingested < @idle, 'completed', 'running'))")
	}
	if f.HasError != nil {
		not := ""
		if !*f.HasError {
			not = "NOT "
		}
		conditions = append(conditions, not+"(t_errors > 0 OR t_ended AND t_failed)")
	}
	if f.MinDuration != nil {
		// A trace that is running has no duration.
		conditions = append(conditions, "multiIf(t_ended, t_end, t_ingested < @idle, greatest(t_last_end, t_last), t_first - 1) - t_first >= @duration")
	}
	return strings.Join(conditions, " AND ")
}
