package arch

import (
	"go/ast"
	"go/token"
	"io/fs"
	"strconv"
	"strings"
)

// reasonsPage lists what a caller can do about each reason of an error.
const reasonsPage = "docs/errors.md"

// reasons finds faults whose reason the page of errors does not have. One that no caller
// sees has none.
func reasons(t *tree, bad report) {
	page, err := fs.ReadFile(t.fsys, reasonsPage)
	if err != nil {
		bad(reasonsPage, 0, "is missing: callers look up the reasons of errors there")
		return
	}
	for _, f := range t.files {
		if f.test || !matches("internal/...", f.dir) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			reason, ok := reasonOf(n)
			if ok && !strings.Contains(string(page), "`"+reason+"`") && !endsNamed(string(page), reason) {
				bad(f.path, t.line(n.Pos()), "returns the reason %s, which is not in %s", reason, reasonsPage)
			}
			return true
		})
	}
}

// endsNamed reports whether the page says what to do about every reason that ends as this one does.
func endsNamed(page, reason string) bool {
	const ending = "_not_found"
	return strings.HasSuffix(reason, ending) && strings.Contains(page, "ends in `"+ending+"`")
}

// reasonOf is the reason of the fault that fault.New(kind, "reason", …) declares.
func reasonOf(n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 3 || spokenName(call) != "New" {
		return "", false
	}
	made, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || spokenName(made.X) != "fault" {
		return "", false
	}
	text, ok := call.Args[1].(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return "", false
	}
	reason, err := strconv.Unquote(text.Value)
	return reason, err == nil && reason != ""
}
