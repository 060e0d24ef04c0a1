package arch

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"time"
)

// clientTest keeps tests that boot the application out of the packages that the
// application consists of: a test binary with both makes Go build everything
// between the two once more, for that binary alone.
func clientTest(t *tree, bad report) {
	for _, f := range t.files {
		if !f.test || matches("internal/test/...", f.dir) {
			continue
		}
		for _, i := range f.imports {
			if matches("internal/test/testkit/...", i.ours) {
				bad(f.path, i.line, "imports %s: tests through the client stand below internal/test", i.ours)
			}
		}
	}
}

// maxBoots is how many applications tests may boot for themselves.
const maxBoots = 70

// notCounted may boot what they need: the kit itself, and what is run on its own.
var notCounted = []string{"internal/test/bench/...", "internal/test/prove/...", "internal/test/testkit/..."}

// boots counts the applications that tests do not share.
func boots(t *tree, bad report) {
	n := 0
	for _, f := range t.files {
		if !matches("internal/test/...", f.dir) || matchesAny(notCounted, f.dir) {
			continue
		}
		ast.Inspect(f.syntax, func(x ast.Node) bool {
			s, ok := x.(*ast.SelectorExpr)
			if !ok || !isName(s.X, "testkit") {
				return true
			}
			switch s.Sel.Name {
			case "Own", "NewWith", "NewAt":
				if n++; n == maxBoots+1 {
					bad(f.path, t.line(s.Pos()), "boots the %dth application of a test's own: share one with testkit.Shared, Working or Moving", n)
				}
			}
			return true
		})
	}
}

// shortest is the least that an assertion about time may wait or allow: what a
// busy machine takes longer for is no failure.
const shortest = 10 * time.Second

// sleeping are the tests that may sleep, and why.
var sleeping = map[string]string{
	"dev/internal/engine/process_test.go":                "looks again until a process says something",
	"internal/platform/blob/kit_test.go":                 "looks again until a server listens",
	"internal/platform/egress/redirect_internal_test.go": "is a server that takes its time",
	"internal/platform/ratelimit/replicas_test.go":       "lets the time of Redis pass",
	"internal/test/app/app_away_test.go":                 "gives processes time to fill their logs",
	"internal/test/evaluation/evaluation_cancel_test.go": "gives a worker time to look, and more if it was too little",
	"internal/test/evaluation/evaluation_crash_test.go":  "is a target that takes its time",
	"internal/test/evaluation/evaluation_share_test.go":  "is a target that takes its time",
	"internal/test/telemetry/trace_memory_test.go":       "looks at the memory now and then",
}

// timing finds tests whose result depends on how fast the machine is. Benches
// measure it.
func timing(t *tree, bad report) {
	bubbles := map[string]bool{} // folders whose tests run in a time of their own
	for _, f := range t.files {
		if f.test && strings.Contains(importsOf(f), "testing/synctest") {
			bubbles[f.dir] = true
		}
	}
	for _, f := range t.files {
		if !f.test || matches("internal/test/bench/...", f.dir) {
			continue
		}
		inBubble := bubbles[f.dir]
		ast.Inspect(f.syntax, func(x ast.Node) bool {
			c, ok := x.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := c.Fun.(*ast.SelectorExpr)
			switch {
			case !ok:
			case isName(s.X, "time") && s.Sel.Name == "Sleep" && !inBubble && sleeping[f.path] == "":
				bad(f.path, t.line(c.Pos()), "sleeps: wait for what is to happen, or use testing/synctest")
			case (isName(s.X, "require") || isName(s.X, "assert")) && !inBubble:
				assertion(t, f, s.Sel.Name, c, bad)
			}
			return true
		})
	}
}

// assertion reports the durations of an assertion that are too short. The last
// one of Eventually is how often it looks.
func assertion(t *tree, f *file, name string, c *ast.CallExpr, bad report) {
	switch name {
	case "Never", "Neverf":
		bad(f.path, t.line(c.Pos()), "waits for nothing to happen: a slow machine passes, a fast one waits")
		return
	case "Eventually", "Eventuallyf", "EventuallyWithT", "EventuallyWithTf":
		if len(c.Args) > 2 {
			if d, ok := duration(c.Args[2]); ok && d < shortest {
				bad(f.path, t.line(c.Pos()), "gives up after %s: give at least %s, it ends as soon as it may", d, shortest)
			}
		}
		return
	case "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "WithinDuration", "InDelta":
	default:
		return
	}
	for _, a := range c.Args {
		if d, ok := duration(a); ok && d > 0 && d < shortest {
			bad(f.path, t.line(c.Pos()), "compares with %s: compare with a control of the same run, or count", d)
		}
	}
}

var units = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// duration is the value of an expression like 3 * time.Second.
func duration(e ast.Expr) (time.Duration, bool) {
	switch x := e.(type) {
	case *ast.SelectorExpr:
		d, ok := units[x.Sel.Name]
		return d, ok && isName(x.X, "time")
	case *ast.BinaryExpr:
		if x.Op != token.MUL {
			return 0, false
		}
		for _, pair := range [][2]ast.Expr{{x.X, x.Y}, {x.Y, x.X}} {
			n, ok := pair[0].(*ast.BasicLit)
			d, isUnit := duration(pair[1])
			if ok && isUnit {
				f, err := strconv.ParseFloat(n.Value, 64)
				return time.Duration(f * float64(d)), err == nil
			}
		}
	}
	return 0, false
}

func importsOf(f *file) string {
	var all []string
	for _, i := range f.imports {
		all = append(all, i.path)
	}
	return strings.Join(all, "\n")
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
