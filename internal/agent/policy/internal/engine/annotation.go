package engine

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
)

// Requirement is who must agree before a statement no longer stands in the way.
type Requirement struct {
	PolicyKey string
	RuleID    string
	Groups    []string // role names and user ids: who may agree
	Min       int      // distinct people that must
	ExpiresIn time.Duration
}

// defaultExpiresIn is how long people have if a statement does not say it.
const defaultExpiresIn = 24 * time.Hour

// defaultGroups may agree if a statement does not say who.
func defaultGroups() []string { return []string{"owner", "admin"} }

// roles are the names of the roles.
func roles() string {
	var names []string
	for _, r := range principal.Roles {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// notes reads the annotations of a statement.
type notes struct {
	at       span
	known    cedar.Annotations
	facts    map[string]Fact
	problems []Problem
}

// refuse reports a problem at an annotation, or at the statement if it has none.
func (n *notes) refuse(annotation, format string, args ...any) {
	at, ok := n.at.annotations[annotation]
	if !ok {
		at = n.at.start
	}
	n.problems = append(n.problems, at.problem("@"+annotation+": "+format, args...))
}

// value is the value of an annotation, if the statement has it.
func (n *notes) value(annotation string) (string, bool) {
	v, ok := n.known[types.AnnotationKey(annotation)]
	return string(v), ok
}

var ruleID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$`)

// isGroup reports whether a text is the name of a role or the id of a user.
func isGroup(text string) bool {
	return principal.Role(text).Valid() || len(text) == len(uuid.UUID{}.String()) && uuid.Validate(text) == nil
}

// statement reads all annotations that mean something here. Others are the author's own.
func (n *notes) statement(id string, effect Effect) Statement {
	s := Statement{ID: id, Effect: effect}
	if v, ok := n.value("id"); ok {
		s.ID = v
		if !ruleID.MatchString(v) {
			n.refuse("id", "an id has up to 100 letters, digits and _ . : -, and begins with a letter or digit")
		}
	}
	if v, ok := n.value("effect"); ok {
		switch {
		case v != string(RequireApproval):
			n.refuse("effect", "the only effect is %q", RequireApproval)
		case effect != Forbid:
			n.refuse("effect", "only a forbid can require an approval")
		default:
			s.Effect = RequireApproval
		}
	}
	if v, ok := n.value("reason"); ok {
		s.Reason = v
		if v == "" || len(v) > 1000 {
			n.refuse("reason", "a reason has 1 to 1000 bytes")
		}
	}
	s.Requirement = n.requirement(s)
	if v, ok := n.value("obligations"); ok {
		s.Obligations = n.obliges(v)
		if s.Effect == Forbid {
			n.refuse("obligations", "a forbid cannot have obligations; put them on a permit, or on a statement that requires an approval")
		}
	}
	if v, ok := n.value("history"); ok {
		n.history(v)
	}
	return s
}

// requirement reads who must agree.
func (n *notes) requirement(s Statement) Requirement {
	r := Requirement{RuleID: s.ID, Groups: defaultGroups(), Min: 1, ExpiresIn: defaultExpiresIn}
	if s.Effect != RequireApproval {
		for _, name := range []string{"approver_groups", "min_approvals", "expires_in"} {
			if _, has := n.value(name); has {
				n.refuse(name, "only a statement with @effect(%q) has it", RequireApproval)
			}
		}
		return Requirement{}
	}
	if groups, ok := n.value("approver_groups"); ok {
		r.Groups = nil
		for one := range strings.SplitSeq(groups, ",") {
			one = strings.TrimSpace(one)
			if !isGroup(one) {
				n.refuse("approver_groups", "%q is neither a role (%s) nor the id of a user", one, roles())
			}
			r.Groups = append(r.Groups, strings.ToLower(one))
		}
	}
	if least, ok := n.value("min_approvals"); ok {
		v, err := strconv.Atoi(least)
		if err != nil || v < 1 || v > maxMin {
			n.refuse("min_approvals", "%q is not a number from 1 to %d", least, maxMin)
		}
		r.Min = v
	}
	if expires, ok := n.value("expires_in"); ok {
		v, err := strconv.Atoi(expires)
		if most := int(maxExpires / time.Second); err != nil || v < 1 || v > most {
			n.refuse("expires_in", "%q is not a number of seconds from 1 to %d", expires, most)
		}
		r.ExpiresIn = time.Duration(v) * time.Second
	}
	return r
}
