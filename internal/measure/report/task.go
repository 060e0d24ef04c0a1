package report

import (
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/consensus"
)

// Task is what the people of an annotation task said, as its page shows it.
type Task struct {
	Name       string
	MeasuredAt time.Time
	// Required is the accuracy that an annotator has to have on gold items.
	Required float64
	// Abstained says why nothing is measured; empty if something is.
	Abstained string

	Agreement agreement.Together
	Consensus consensus.Consensus
	Quality   []consensus.Quality
	// Overlap says how many more items with several labels agreement needs.
	Overlap agreement.Overlap

	// Undecided is how many items a person should decide; Unseen what an audit says
	// about the others, nil without an audit.
	Undecided int
	Unseen    *consensus.Unseen
	// Hardest are the items that people are least sure of, the hardest first.
	Hardest []HardItem
	Hidden  int // further items that a person should decide
}

// HardItem is an item that people are not sure of.
type HardItem struct {
	Consensus     consensus.Item
	Reasons       []consensus.Reason
	Said          []Said
	Input, Output jsontext.Value
}

// Said is what one annotator said.
type Said struct{ Annotator, Label string }

const (
	// MaxHardest is how many of the items are shown that people are least sure of.
	MaxHardest = 20
	// maxAnnotators is how many annotators have a matrix of their own.
	maxAnnotators = 12
)

type taskView struct {
	Title, Status, Tone string
	Meta                []string
	Notices             []string
	Lead                []string
	Dials               []dialView
	Facts               []factView
	Measures            []measureView
	Labels              []measureView
	Pairs               *gridView
	Annotators          []annotatorView
	AnnotatorsNote      string
	Matrices            []matrixView
	MatricesNote        string
	Hardest             []hardView
	HardestNote         string
	Method              []factView
}

// gridView is a table of each annotator with each other.
type gridView struct {
	Heads []string
	Rows  []matrixRow
	Note  string
}

type annotatorView struct {
	measureView
	Facts []factView
}

type hardView struct {
	Item, Entropy, Outcome string
	Reasons                []string
	Labels                 []segmentView
	Said                   []Said
	Input, Output          excerpt
}

// WriteTask writes the page of an annotation task: one file that needs nothing
// else.
func WriteTask(w io.Writer, t Task) error {
	v := taskView{
		Title: shorten(t.Name, 200).Text, Meta: taskMeta(t), Lead: taskLead(t), Dials: taskDials(t), Facts: taskFacts(t),
		Measures: taskMeasures(t), Labels: taskLabels(t), Pairs: gridOf(t), Method: taskMethod(t),
	}
	v.Status, v.Tone = taskStatus(t)
	for _, text := range t.Consensus.Warnings {
		v.Notices = append(v.Notices, sentence(text))
	}
	v.Annotators, v.AnnotatorsNote = annotatorsOf(t)
	v.Matrices, v.MatricesNote = annotatorMatrices(t)
	v.Hardest, v.HardestNote = hardestOf(t)
	return page.ExecuteTemplate(w, "task.html", v)
}
