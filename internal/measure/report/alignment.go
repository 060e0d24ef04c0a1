package report

import (
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Alignment is how well a version of a judge agrees with people, as its page shows
// it.
type Alignment struct {
	Name, Key, Model string
	Version          int
	MeasuredAt       time.Time
	// LabelKey is where people say what they think, Random whether the items that
	// they labelled are a random sample.
	LabelKey string
	Random   bool
	Split    string

	Judged, Labelled, Divided, Abstained, Failed int
	Truncated                                    bool
	MinSamples                                   int

	Passes  agreement.Alignment
	Labels  *agreement.Alignment // of scales with more than two labels
	Scores  *agreement.Numeric   // of scales of numbers
	Ceiling *agreement.Raters    // where several people labelled the same answers
	Replace *agreement.Replacement
	// Corrected is the mean score as people would give it, PassRate the share that
	// would pass.
	Corrected, PassRate correction.Corrected
	// Curve is the share that people let pass, by the judge's score.
	Curve       []correction.Bin
	Calibration correction.Calibration
	Route       correction.Route

	Outcome       agreement.Outcome
	Rulings       []Ruling
	MoreLabels    *int
	Disagreements []Disagreement
	Hidden        int // further disagreements
}

// Ruling is the decision on one threshold.
type Ruling struct {
	On       string
	Estimate stat.Estimate
	agreement.Verdict
}

// Disagreement is an answer that people and the judge see differently.
type Disagreement struct {
	Item                    string // what it is called
	People, Judge           string
	Reasoning               string
	Input, Output, Expected jsontext.Value
}

// MaxDisagreements is how many disagreements the page shows.
const MaxDisagreements = 20

type alignmentView struct {
	Title, Outcome, Tone string
	Meta                 []string
	Notice               string
	Dials                []dialView
	Labels               labelsView
	Facts                []factView
	Lead                 []string
	Measures             []measureView
	Matrices             []matrixView
	Curve                *curveView
	CurveNote            string
	Means                []meanView
	MeansNote            string
	Routing              []segmentView
	RoutingLead          string
	RoutingNote          string
	People               []measureView
	PeopleNote           string
	Pairs                []pairView
	PairsNote            string
	Method               []factView
}

// labelsView is how many labels there are and how many are missing.
type labelsView struct {
	Value, Note, Low, High string
	Width                  float64
	Tone                   string
}

type measureView struct {
	Name, Words, Value, Basis, Needs, Chip, Tone string
	Bar                                          barView
	HasBar                                       bool // Bar.Zero is a threshold
}

type meanView struct {
	Name, Value, Basis string
	Bar                barView
	First              bool
}

type pairView struct {
	Item, People, Judge              string
	PeopleTone, JudgeTone            string
	Input, Output, Expected, Reasons excerpt
}

// WriteAlignment writes the page of a judge's alignment: one file that needs
// nothing else.
func WriteAlignment(w io.Writer, a Alignment) error {
	v := alignmentView{
		Title: shorten(a.Name, 200).Text, Outcome: outcomeText(a.Outcome), Tone: outcomeTones[a.Outcome], Meta: alignmentMeta(a), Dials: []dialView{correctedDial(a)}, Labels: labelsOf(a),
		Facts: alignmentFacts(a), Lead: leadOf(a), Measures: measuresOf(a), Method: alignmentMethod(a),
	}
	if a.Truncated {
		v.Notice = "The judge has given more results than are compared at once. The newest are compared."
	}
	if a.Passes.Items > 0 {
		v.Matrices = append(v.Matrices, matrixOf("Pass or fail", a.Passes))
		if a.Labels != nil {
			v.Matrices = append(v.Matrices, matrixOf("Labels", *a.Labels))
		}
	}
	v.Curve, v.CurveNote = curveOf(a)
	v.Means, v.MeansNote = meansOf(a)
	v.Routing, v.RoutingLead, v.RoutingNote = routingOf(a)
	v.People, v.PeopleNote = peopleOf(a)
	v.Pairs, v.PairsNote = pairsOf(a)
	return page.ExecuteTemplate(w, "alignment.html", v)
}

var outcomeTones = map[agreement.Outcome]string{agreement.OutcomeAligned: "good", agreement.OutcomeMisaligned: "bad", agreement.OutcomeInsufficient: "warn"}

func outcomeText(o agreement.Outcome) string {
	if o == agreement.OutcomeInsufficient {
		return "too few labels"
	}
	return string(o)
}
