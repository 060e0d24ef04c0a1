package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oddActions are those that do not begin with the type of their resource. They are stored, so
// they stay, but no other is added.
var oddActions = []string{
	"adjudication.item.assigned", "adjudication.item.calibrated", "adjudication.item.closed", "adjudication.item.decided", "adjudication.item.dismissed",
	"adjudication.item.opened", "adjudication.item.promoted", "adjudication.item.released", "adjudication.item.reopened", "adjudication.item.updated",
	"annotation.item.annotated", "annotation.item.conflicted", "run.decided", "trace.feedback_created",
}

var (
	plainName  = regexp.MustCompile(`^[a-z]+([._][a-z]+)*\.[a-z]+(_[a-z]+)*$`)
	singleVerb = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	sentence   = regexp.MustCompile(`^[A-Z0-9].*\.$`)
)

// happening is a kind of event, as an area declares it.
type happening struct {
	resource, schema, action, public, says string

	file string
	line int
}

// declaresEvents reports whether a file may make kinds of events: the events.go of an area, and
// the file of a noun that is its row.
func declaresEvents(f *file) bool { return f.name == "events.go" || isRow(f) }

// happenings reads the catalogue: the variables that areas make there from literal texts. What
// is made elsewhere or otherwise is reported. Tests have events of their own.
func (t *tree) happenings(bad report) (all []happening) {
	nouns := map[string][]string{} // what they are made from, by folder and variable
	for _, f := range t.files {
		for _, d := range f.syntax.Decls {
			group, ok := d.(*ast.GenDecl)
			if !declaresEvents(f) || !ok || group.Tok != token.VAR {
				continue
			}
			for _, s := range group.Specs {
				v := s.(*ast.ValueSpec)
				if call, ok := slices.Concat(v.Values, []ast.Expr{nil})[0].(*ast.CallExpr); ok && asked(call) == f.catalogue()+".Of" {
					nouns[f.dir+"."+v.Names[0].Name] = literals(call)
				}
			}
		}
	}
	for _, f := range t.files {
		if f.test || matches("internal/test/...", f.dir) {
			continue
		}
		for _, d := range f.syntax.Decls {
			group, ok := d.(*ast.GenDecl)
			declared := declaresEvents(f) && ok && group.Tok == token.VAR
			ast.Inspect(d, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				said, line := literals(call), t.line(call.Pos())
				noun, method, _ := strings.Cut(asked(call), ".")
				of := nouns[f.dir+"."+noun]
				switch makes := asked(call) == f.catalogue()+".Of" || of != nil && (method == "Event" || method == "Public"); {
				case !makes:
				case !declared || said == nil:
					bad(f.path, line, "makes an event: declare it as a variable in events.go or beside the row that it happens to, from literals")
				case method == "Event":
					all = append(all, happening{of[0], of[1], said[0], "", said[1], f.path, line})
				case method == "Public":
					all = append(all, happening{of[0], of[1], said[0], said[1], said[2], f.path, line})
				}
				return true
			})
		}
	}
	slices.SortFunc(all, func(a, b happening) int {
		return cmp.Or(cmp.Compare(a.action, b.action), cmp.Compare(a.public, b.public))
	})
	return all
}

// catalogue is what a file calls the package that makes kinds of events.
func (f *file) catalogue() string {
	for _, i := range f.imports {
		if i.ours == "internal/change/event" && i.alias != "" {
			return i.alias
		}
	}
	return "event"
}

// asked is the function that a call names, such as event.Of; empty if it is no name in something.
func asked(call *ast.CallExpr) string {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// literals are the arguments of a call; nil if one is no literal text.
func literals(call *ast.CallExpr) (all []string) {
	for _, a := range call.Args {
		literal, ok := a.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return nil
		}
		text, _ := strconv.Unquote(literal.Value) // the compiler has read it
		all = append(all, text)
	}
	return all
}

// events finds kinds of events that are not in the catalogue, or are misspelled there.
func events(t *tree, bad report) {
	odd := slices.Clone(oddActions)
	actions, public := map[string]happening{}, map[string]happening{}
	for _, h := range t.happenings(bad) {
		verb, begins := strings.CutPrefix(h.action, h.resource+".")
		if at := slices.Index(odd, h.action); at >= 0 {
			odd = slices.Delete(odd, at, at+1)
		} else if !slices.Contains(oddActions, h.action) && (!begins || !singleVerb.MatchString(verb)) {
			bad(h.file, h.line, "calls an event %s: begin with its resource, as in %s.created", h.action, h.resource)
		}
		if other, ok := actions[h.action]; ok && (other.public == h.public || other.resource != h.resource) {
			bad(h.file, h.line, "declares %s twice", h.action)
		}
		if actions[h.action] = h; !sentence.MatchString(h.says) {
			bad(h.file, h.line, "says when %s happens without a sentence: %q", h.action, h.says)
		}
		if h.public == "" {
			continue
		}
		if other, ok := public[h.public]; ok && (other.says != h.says || other.resource != h.resource) {
			bad(h.file, h.line, "gives the public name %s a second meaning: %s has it", h.public, other.action)
		}
		if public[h.public] = h; !plainName.MatchString(h.public) {
			bad(h.file, h.line, "gives an event the public name %s: write it noun.happened", h.public)
		}
	}
	if list := "internal/tool/arch/event.go"; len(odd) > 0 && t.exists(list) {
		bad(list, 0, "lists what no area declares: %s", strings.Join(odd, ", "))
	}
}

// drawEvents returns the tables of the catalogue, for people.
func (t *tree) drawEvents() string {
	var public, other strings.Builder
	byType := map[string][]happening{}
	for _, h := range t.happenings(func(string, int, string, ...any) {}) {
		if h.public != "" {
			byType[h.public] = append(byType[h.public], h)
			continue
		}
		fmt.Fprintf(&other, "| `%s` | %s | `%s` (%s) |\n", h.action, h.says, h.resource, h.schema)
	}
	for _, name := range slices.Sorted(maps.Keys(byType)) {
		h, actions := byType[name][0], []string{}
		for _, one := range byType[name] {
			actions = append(actions, "`"+one.action+"`")
		}
		fmt.Fprintf(&public, "| `%s` | %s | `%s` (%s) | %s |\n", name, h.says, h.resource, h.schema, strings.Join(actions, ", "))
	}
	return "\n| Type | When | Resource | Action |\n|---|---|---|---|\n" + public.String() +
		"\n## Other actions\n\n| Action | When | Resource |\n|---|---|---|\n" + other.String() + "\n"
}
