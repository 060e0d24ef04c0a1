// Package approval shows requests for approvals in a terminal.
package approval

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/terminal"
)

// Approval is a request, as the API shows it.
type Approval struct {
	ID          int64          `json:"id"`
	State       string         `json:"state"`
	Title       string         `json:"title"`
	Reason      string         `json:"reason"`
	Class       string         `json:"side_effect_class"`
	Reversible  string         `json:"reversibility"`
	Request     jsontext.Value `json:"request"`
	Groups      []string       `json:"approver_groups"`
	Min         int            `json:"min_approvals"`
	MaxUses     int            `json:"max_uses"`
	Uses        int            `json:"uses"`
	ExpiresAt   time.Time      `json:"expires_at"`
	Constraints struct {
		MaxAmount string `json:"max_amount"`
	} `json:"constraints"`
	Requirements []struct {
		Rule   string   `json:"rule_id"`
		Groups []string `json:"approver_groups"`
		Min    int      `json:"min_approvals"`
	} `json:"requirements"`
	Votes []struct {
		Actor struct {
			User string `json:"user_id"`
		} `json:"actor"`
		Role     string    `json:"role"`
		Decision string    `json:"decision"`
		Comment  string    `json:"comment"`
		At       time.Time `json:"at"`
	} `json:"votes"`
}

// Read reads an approval from an answer of the API.
func Read(raw []byte) (a Approval, err error) {
	err = json.Unmarshal(raw, &a)
	return a, err
}

// List reads a page of approvals, to be shown with notes.
func List(raw []byte, notes []string) (terminal.List, error) {
	var page struct {
		Records []Approval `json:"records"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return terminal.List{}, err
	}
	out := terminal.List{Heads: []string{"ID", "STATE", "EXPIRES", "DOES", "USES", "TITLE"}, Whole: true, Empty: "No approval is in this state.", Notes: notes}
	for _, a := range page.Records {
		out.Rows = append(out.Rows, []string{strconv.FormatInt(a.ID, 10), a.State, terminal.Moment(a.ExpiresAt), a.Class, a.uses(), a.Title})
	}
	return out, nil
}

// uses is how often the approval was used, of how often it may be.
func (a Approval) uses() string { return fmt.Sprintf("%d of %d", a.Uses, a.MaxUses) }

// Outcome is the result of a decision. Whoever posts a request chooses how often the approval can
// be used, so the number is shown to the person who has agreed to it.
func (a Approval) Outcome() string {
	text := "The approval is " + a.State + "."
	if a.MaxUses > 1 && (a.State == "approved" || a.State == "pending") {
		text += fmt.Sprintf(" It can be used %d times.", a.MaxUses)
	}
	return text
}

// Draw shows all of an approval. Its texts were written by agents: nothing of them moves
// the cursor.
func Draw(w io.Writer, a Approval) error {
	out := bufio.NewWriter(w)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "%-10s %s\n", name, terminal.Text(text))
		}
	}
	line("Approval", strconv.FormatInt(a.ID, 10)+", "+a.State)
	line("Asks", a.Title)
	line("Why", a.Reason)
	line("Does", strings.TrimSuffix(a.Class+", "+a.Reversible, ", "))
	line("Expires", terminal.Moment(a.ExpiresAt))
	line("Uses", a.uses())
	line("At most", a.Constraints.MaxAmount)
	for _, r := range a.Requirements {
		line("Needs", needs(r.Min, r.Groups)+" ("+r.Rule+")")
	}
	if len(a.Requirements) == 0 {
		line("Needs", needs(a.Min, a.Groups))
	}
	for _, v := range a.Votes {
		line("Vote", strings.TrimSuffix(fmt.Sprintf("%s by %s (%s), %s: %s", v.Decision, v.Actor.User, v.Role, terminal.Moment(v.At), v.Comment), ": "))
	}
	if len(a.Request) > 0 {
		text := a.Request.Clone()
		if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
			return err
		}
		fmt.Fprintln(out, "\nThe action:")
		for l := range strings.Lines(text.String()) {
			fmt.Fprintln(out, "  "+terminal.Text(strings.TrimRight(l, "\n")))
		}
	}
	return out.Flush()
}

// needs says how many of whom must agree.
func needs(n int, groups []string) string {
	if len(groups) == 0 {
		groups = []string{"owner", "admin"}
	}
	return fmt.Sprintf("%d of %s", max(n, 1), strings.Join(groups, ", "))
}
