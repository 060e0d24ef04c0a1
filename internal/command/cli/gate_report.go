package cli

import (
	"encoding/xml"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/terminal"
	"github.com/assayhq/assay/internal/measure/requirement"
)

// report prints a decision, and writes it for whoever else reads it.
func (c gateCommand) report(e *Environment, d decision) error {
	notes := e.Out
	if c.JSON {
		notes = e.ErrOut
		raw, err := json.Marshal(d.wire())
		if err != nil {
			return err
		}
		if err := printJSON(e, raw); err != nil {
			return err
		}
	} else if err := terminal.Detect(e.Out, e.Environ).Gate(e.Out, d.draw()); err != nil {
		return err
	}
	if c.GitHub {
		for _, line := range d.annotations() {
			fmt.Fprintln(unguarded(notes), line)
		}
	}
	if c.JUnit == "" {
		return nil
	}
	text, err := d.junit(time.Now())
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.JUnit, text, 0o644); err != nil {
		return mistake("the JUnit report cannot be written: %w; name another file with --junit", err)
	}
	return nil
}

func (d decision) draw() terminal.Gate {
	g := terminal.Gate{Name: d.evaluation.Name, Run: d.run.ID, Baseline: d.baseline, Verdict: string(d.verdict), Summary: d.summary}
	if d.problem == "" {
		for _, j := range d.judged {
			one := terminal.Requirement{Text: j.Requirement, Verdict: j.Verdict, Because: j.because, Help: j.help}
			if j.warning != "" {
				one.Help = strings.TrimSpace(one.Help + " (" + j.warning + ")")
			}
			g.Requirements = append(g.Requirements, one)
		}
		for _, one := range d.drift {
			drawn := shown.Estimate(one.Figure, one.Difference)
			g.Notes = append(g.Notes, fmt.Sprintf("%s since the pinned run %s: %s", one.Figure, one.PinnedRunID, signedText(drawn)))
		}
	}
	if d.run.ID != "" && d.verdict != requirement.Pass && d.problem == "" {
		g.Notes = append(g.Notes, fmt.Sprintf("assay results %s %s --failed", d.evaluation.ID, d.run.ID))
	}
	if d.run.ID != "" {
		g.Notes = append(g.Notes, fmt.Sprintf("assay report %s %s --open", d.evaluation.ID, d.run.ID))
	}
	return g
}

// wireDecision is a decision in JSON.
type wireDecision struct {
	Verdict       string            `json:"verdict"` // PASS, FAIL or INCONCLUSIVE
	Summary       string            `json:"summary"`
	EvaluationID  string            `json:"evaluation_id,omitzero"`
	RunID         string            `json:"run_id,omitzero"`
	BaselineRunID string            `json:"baseline_run_id,omitzero"`
	Requirements  []wireRequirement `json:"requirements"`
}

type wireRequirement struct {
	Requirement string   `json:"requirement"`
	Verdict     string   `json:"verdict"`
	Because     string   `json:"because"`
	Help        string   `json:"help,omitzero"`
	Warning     string   `json:"warning,omitzero"`
	Value       *float64 `json:"value"` // of the figure, or of its difference from the baseline
	Lower       *float64 `json:"lower"`
	Upper       *float64 `json:"upper"`
	Level       float64  `json:"level,omitzero"`
	Alpha       float64  `json:"alpha"`
	N           int      `json:"n"`
	Reach       *float64 `json:"reach,omitzero"` // how far from the threshold the truth has to be to be decided
}

func (d decision) wire() wireDecision {
	w := wireDecision{
		Verdict: string(d.verdict), Summary: d.summary, EvaluationID: d.evaluation.ID, RunID: d.run.ID, BaselineRunID: d.baseline,
		Requirements: []wireRequirement{},
	}
	for _, j := range d.judged {
		one := wireRequirement{
			Requirement: j.Requirement, Verdict: j.Verdict, Because: j.because, Help: j.help, Warning: j.warning, Alpha: j.Alpha, Reach: j.Reach,
		}
		if j.Estimate != nil && j.Estimate.CI != nil {
			one.Level = j.Estimate.CI.Level
		}
		if f := j.figure; f != nil {
			one.Value, one.Lower, one.Upper, one.N = f.Value, f.Lower, f.Upper, f.N
		}
		w.Requirements = append(w.Requirements, one)
	}
	return w
}

// annotations are commands for the runner of GitHub Actions: an error for what
// failed, a warning for what is open.
func (d decision) annotations() []string {
	if d.problem != "" {
		return []string{annotation("error", "Assay gate: no completed run", d.problem)}
	}
	var lines []string
	for _, j := range d.judged {
		message := strings.TrimSpace(j.because + ". " + j.help)
		switch {
		case requirement.Verdict(j.Verdict) == requirement.Fail:
			lines = append(lines, annotation("error", "Assay gate: "+j.Requirement+" failed", message))
		case requirement.Verdict(j.Verdict) == requirement.Inconclusive:
			lines = append(lines, annotation("warning", "Assay gate: "+j.Requirement+" inconclusive", message))
		case j.warning != "":
			lines = append(lines, annotation("notice", "Assay gate: "+j.Requirement+" passed", message+" ("+j.warning+")"))
		}
	}
	for _, i := range d.items[:min(len(d.items), annotatedItems)] {
		lines = append(lines, annotation("notice", "Assay: item "+i.ID+" "+i.Status, terminal.ItemText(i)))
	}
	if d.failing > annotatedItems {
		lines = append(lines, annotation("notice", fmt.Sprintf("Assay: %d failing items", d.failing), fmt.Sprintf("The first %d are shown. assay results %s %s --failed lists all of them.", annotatedItems, d.evaluation.ID, d.run.ID)))
	}
	return lines
}

// How many failing items are reported. GitHub shows ten annotations of a level
// and step.
const (
	annotatedItems = 8
	junitItems     = 100
)

var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotation is one command. Nothing in its texts can end it or begin another.
func annotation(level, title, message string) string {
	lines := strings.Split(message, "\n")
	for i, line := range lines {
		lines[i] = escapeMessage.Replace(terminal.Text(line))
	}
	return fmt.Sprintf("::%s title=%s::%s", level, escapeProperty.Replace(terminal.Text(title)), strings.Join(lines, "%0A"))
}

// The report that CI systems read. A requirement that is missed is a failure;
// one that is open is an error, since a skipped test counts as no harm. If the
// run cannot be judged, that is the error, and the requirements are skipped.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property,omitempty"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Time    string       `xml:"time,attr"`
		Failure *junitResult `xml:"failure"`
		Error   *junitResult `xml:"error"`
		Skipped *junitResult `xml:"skipped"`
		Out     string       `xml:"system-out,omitempty"`
	}
	junitResult struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

func (d decision) junit(at time.Time) ([]byte, error) {
	name := terminal.Text(d.evaluation.Name)
	if name == "" {
		name = "evaluation"
	}
	s := junitSuite{Name: name, Timestamp: at.UTC().Format("2006-01-02T15:04:05"), Time: "0"}
	for _, p := range []junitProperty{{"verdict", string(d.verdict)}, {"evaluation_id", d.evaluation.ID}, {"run_id", d.run.ID}, {"baseline_run_id", d.baseline}, {"url", d.url}} {
		if p.Value != "" {
			s.Properties = append(s.Properties, p)
		}
	}
	if d.problem != "" {
		s.Errors++
		s.Cases = append(s.Cases, junitCase{Name: "completed run", Class: name, Time: "0", Error: &junitResult{d.problem, "no_run", d.problem}})
	}
	for _, j := range d.judged {
		c := junitCase{Name: j.Requirement, Class: name, Time: "0"}
		because := terminal.Text(j.because)
		text := strings.TrimSpace(because + "\n" + terminal.Text(j.help) + "\n" + terminal.Text(j.warning))
		switch {
		case requirement.Reason(j.Reason) == requirement.ReasonNotChecked:
			s.Skipped++
			c.Skipped = &junitResult{Message: because}
		case requirement.Verdict(j.Verdict) == requirement.Fail:
			s.Failures++
			c.Failure = &junitResult{because, "missed", text}
		case requirement.Verdict(j.Verdict) == requirement.Inconclusive:
			s.Errors++
			c.Error = &junitResult{because, "inconclusive", text}
		default:
			c.Out = text
		}
		s.Cases = append(s.Cases, c)
	}
	s.Tests = len(s.Cases)
	all := junitSuites{Name: "assay gate", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Skipped: s.Skipped, Suites: []junitSuite{s}}
	if len(d.items) > 0 {
		items := d.junitItems(name, s.Timestamp)
		all.Tests, all.Failures, all.Suites = all.Tests+items.Tests, all.Failures+items.Failures, append(all.Suites, items)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// junitItems are the failing items of a run that did not pass. In a run that
// passed they are within what was accepted, and none of them is a failure.
func (d decision) junitItems(name, at string) junitSuite {
	s := junitSuite{Name: name + ": failing items", Timestamp: at, Time: "0", Properties: []junitProperty{{"failing_items", strconv.Itoa(d.failing)}}}
	for _, i := range d.items {
		text := terminal.ItemText(i)
		first, _, _ := strings.Cut(text, "\n")
		s.Cases = append(s.Cases, junitCase{Name: "item " + terminal.Text(i.ID), Class: name, Time: "0", Failure: &junitResult{terminal.Text(i.Status + ": " + first), i.Status, text}})
	}
	s.Tests, s.Failures = len(s.Cases), len(s.Cases)
	return s
}
