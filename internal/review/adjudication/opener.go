package adjudication

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/review/annotator"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// When items are opened by themselves.
const (
	farApart = 0.3 // two judges differ by more than this, or in their verdict
	unsure   = 0.6 // a judge is less sure than this
	disliked = 0.5 // a user rates an answer lower than this
)

// maxOfRun is how many results of a run are looked at, and maxOpened how many items of
// each source are opened for it: those about which judges disagree most, or are least
// sure.
const (
	maxOfRun  = 5000
	maxOpened = 100
)

// TopicLook is published with something that may be a reason to open an item.
const TopicLook = "adjudication.look"

// lookDelay is how long a look waits: what an event is about is stored a moment after
// it.
const lookDelay = 500 * time.Millisecond

// maxLooks is how often something is looked for that is not there: a later result or
// feedback may have replaced it.
const maxLooks = 6

// look is what is to be looked at.
type look struct {
	Event string `json:"event"` // its type; empty if the subject is known
	ID    string `json:"id,omitzero"`

	Source  Source   `json:"source,omitzero"`
	Subject Subject  `json:"subject,omitzero"`
	Reasons []string `json:"reasons,omitzero"`
	// Once says that a source which has opened an item about the subject does not open
	// another, also after the first one was dismissed.
	Once bool `json:"once,omitzero"`
}

// maxOfTask is how many items of a task a look at all of its answers opens: those whose
// labels are least certain.
const maxOfTask = 1000

// noted reports whether an event is to be looked at. Of the many items about which
// people agree only those are that an audit draws, which their ids tell.
func noted(e change.Event) bool {
	if !e.Is(annotation.EventItemAnnotated) {
		return e.Is(judge.EventJudged, trace.EventFeedback, evaluation.EventRunCompleted, annotation.EventItemConflicted,
			annotation.EventTaskCompleted, annotation.EventTaskMilestone)
	}
	task, item, _ := strings.Cut(e.ResourceID, "/")
	ids := [2]int64{}
	for i, text := range []string{task, item} {
		var err error
		if ids[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return false
		}
	}
	return annotator.Drawn(e.Org, ids[0], ids[1])
}

// Follower turns events of other areas into looks. It only notes them, so that one
// organization's many events do not hold up the others.
func (s *Service) Follower() change.Follower {
	return change.Follower{Name: "adjudication", Handle: func(ctx context.Context, events []change.Event) error {
		byOrg := map[principal.OrgID][]change.Event{}
		for _, e := range events {
			if noted(e) {
				byOrg[e.Org] = append(byOrg[e.Org], e)
			}
		}
		for org, all := range byOrg {
			err := postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
				for _, e := range all {
					if err := s.log.PublishLaterTx(ctx, tx, lookDelay, TopicLook, e.Type+"/"+e.ResourceID, look{Event: e.Type, ID: e.ResourceID}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("note events: %w", err)
			}
		}
		return nil
	}}
}

// Handlers look at what followers noted.
func (s *Service) Handlers() map[string]change.Handler {
	return map[string]change.Handler{TopicLook: func(ctx context.Context, m change.Message) error {
		var l look
		if err := json.Unmarshal(m.Payload, &l); err != nil {
			return fmt.Errorf("read look: %w", err)
		}
		err := s.look(ctx, m.Org, l)
		if f, ok := fault.From(err); ok && m.Attempts >= maxLooks && (f.Kind == fault.NotFound || f.Kind == fault.Validation) {
			return nil // it was replaced or deleted
		}
		return err
	}}
}

func (s *Service) look(ctx context.Context, org principal.OrgID, l look) error {
	if l.Event == "" {
		return s.open(ctx, org, l)
	}
	// The number is the last part of an id: an annotation item has that of its task first.
	id, err := strconv.ParseInt(l.ID[strings.LastIndexByte(l.ID, '/')+1:], 10, 64)
	if err != nil {
		return fmt.Errorf("read the id of %s: %w", l.Event, err)
	}
	switch l.Event {
	case judge.EventJudged.Action():
		return s.lookAtResult(ctx, org, id)
	case trace.EventFeedback.Action():
		return s.lookAtFeedback(ctx, org, id)
	case evaluation.EventRunCompleted.Action():
		return s.lookAtRun(ctx, org, id)
	case annotation.EventItemConflicted.Action():
		return s.open(ctx, org, look{Source: SourceAnnotators, Subject: Subject{AnnotationItem: id}, Reasons: []string{reasonAnswers}})
	case annotation.EventItemAnnotated.Action():
		return s.lookAtAgreed(ctx, org, id)
	case annotation.EventTaskCompleted.Action(), annotation.EventTaskMilestone.Action():
		return s.lookAtTask(ctx, org, id)
	}
	return fmt.Errorf("nothing is known of the event %s", l.Event)
}

// open opens an item, unless its source has one about the subject that is not resolved.
func (s *Service) open(ctx context.Context, org principal.OrgID, l look) error {
	reasons, err := json.Marshal(map[string]any{"reasons": l.Reasons}, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode reasons: %w", err)
	}
	title := titles[l.Source]
	if l.Source == SourceAnnotators && !slices.Contains(l.Reasons, reasonAnswers) {
		title = "The label of annotators is not certain"
	}
	p, err := s.Prepare(ctx, org, Opening{Source: l.Source, Subject: l.Subject, Title: title, Question: questions[l.Source], Context: jsontext.Value(reasons), Tags: []string{}})
	if err != nil {
		return err
	}
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		if l.Once {
			if was, err := s.store.wasOpenedTx(ctx, tx, p.item); err != nil || was {
				return err
			}
		}
		_, err := s.OpenTx(ctx, tx, p)
		return err
	})
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

var (
	titles    = map[Source]string{SourceJudges: "Judges disagree", SourceConfidence: "A judge is not sure", SourceUser: "A user reports a bad answer", SourceAnnotators: "Annotators disagree", SourceAudit: "Random audit"}
	questions = map[Source]string{SourceJudges: "Is the answer good enough?", SourceConfidence: "Is the answer good enough?", SourceUser: "Is the user right?", SourceAnnotators: "Which answer is right?", SourceAudit: "Is the label that the annotators agree on right? If it is not, which one is?"}
)

// The reasons to open an item, as its context shows them.
const (
	reasonVerdicts   = "verdicts_differ"
	reasonScores     = "scores_differ"
	reasonRepeats    = "repeats_differ"
	reasonConfidence = "low_confidence"
	reasonFeedback   = "negative_feedback"
	reasonAnswers    = "answers_differ"
	reasonAudit      = string(consensus.ReasonAudit)
)

// conflict says in which ways results about one answer contradict each other or
// themselves, and how far apart they are.
func conflict(results []judge.Result) (reasons []string, size float64) {
	var all []Candidate
	for _, r := range results {
		all = append(all, candidateOf(r))
		if r.Opinions > 1 && r.Agreement < 1 && !slices.Contains(reasons, reasonRepeats) {
			reasons = append(reasons, reasonRepeats)
			size = max(size, 1-r.Agreement)
		}
	}
	switch d := disagreement(all); {
	case d == 1:
		reasons, size = append(reasons, reasonVerdicts), 1
	case d > farApart:
		reasons, size = append(reasons, reasonScores), max(size, d)
	}
	return reasons, size
}

// doubts reports whether a judge is not sure. One that does not say how sure it is
// has no doubts.
func doubts(r judge.Result) bool { return r.Confidence > 0 && r.Confidence < unsure }

// lookAtResult opens items for a result that contradicts others about the same answer,
// or that its judge doubts.
func (s *Service) lookAtResult(ctx context.Context, org principal.OrgID, id int64) error {
	r, err := s.judges.FindResult(ctx, org, id)
	if err != nil {
		return err
	}
	about := []judge.Result{r}
	subject, ok := subjectOf(r.Subject)
	if !ok {
		subject = Subject{JudgeResults: []int64{id}}
	} else if about, err = s.newest(ctx, org, r.Subject); err != nil {
		return err
	}
	if reasons, _ := conflict(about); len(reasons) > 0 {
		if err := s.open(ctx, org, look{Source: SourceJudges, Subject: subject, Reasons: reasons}); err != nil {
			return err
		}
	}
	if doubts(r) {
		return s.open(ctx, org, look{Source: SourceConfidence, Subject: subject, Reasons: []string{reasonConfidence}})
	}
	return nil
}

// newest are what judges say about a subject, each by its newest version.
func (s *Service) newest(ctx context.Context, org principal.OrgID, of score.Subject) ([]judge.Result, error) {
	all, _, err := s.judges.Results(ctx, org, judge.ResultFilter{Subject: of, Below: 1 << 62, Limit: maxCandidates})
	all = slices.DeleteFunc(all, func(r judge.Result) bool { return r.Subject != of })
	return newestOf(all), err
}

func newestOf(all []judge.Result) []judge.Result {
	version := map[int64]int{}
	for _, r := range all {
		version[r.Config] = max(version[r.Config], r.Version)
	}
	return slices.DeleteFunc(all, func(r judge.Result) bool { return r.Version != version[r.Config] })
}

// lookAtRun notes the answers of a run about which its judges disagree or are unsure.
func (s *Service) lookAtRun(ctx context.Context, org principal.OrgID, run int64) error {
	of := score.RunItem(run, 0, 0)
	of.Part = ""
	results, _, err := s.judges.Results(ctx, org, judge.ResultFilter{Subject: of, Below: 1 << 62, Limit: maxOfRun})
	if err != nil {
		return err
	}
	bySubject := map[score.Subject][]judge.Result{}
	for _, r := range newestOf(results) {
		bySubject[r.Subject] = append(bySubject[r.Subject], r)
	}
	type weighed struct {
		look
		by float64
	}
	var apart, unsure []weighed
	for of, about := range bySubject {
		subject, ok := subjectOf(of)
		if !ok {
			continue
		}
		if reasons, size := conflict(about); len(reasons) > 0 {
			apart = append(apart, weighed{look{Source: SourceJudges, Subject: subject, Reasons: reasons}, size})
		}
		for _, r := range about {
			if doubts(r) {
				unsure = append(unsure, weighed{look{Source: SourceConfidence, Subject: subject, Reasons: []string{reasonConfidence}}, 1 - r.Confidence})
				break
			}
		}
	}
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		for _, all := range [][]weighed{apart, unsure} {
			slices.SortFunc(all, func(a, b weighed) int {
				return cmp.Or(cmp.Compare(b.by, a.by), strings.Compare(a.Subject.key(), b.Subject.key()))
			})
			for _, w := range all[:min(len(all), maxOpened)] {
				if err := s.log.PublishTx(ctx, tx, TopicLook, string(w.Source)+"/"+w.Subject.key(), w.look); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// errNoFeedback is returned for feedback that is not stored, or not yet. No caller sees it,
// so it has no reason.
var errNoFeedback = fault.New(fault.NotFound, "", "The feedback does not exist.")

// lookAtFeedback opens an item if a user does not like an answer.
func (s *Service) lookAtFeedback(ctx context.Context, org principal.OrgID, id int64) error {
	for _, kind := range []score.SourceKind{score.SourceUser, score.SourcePerson, score.SourceClient} {
		found, err := s.scores.Page(ctx, org, score.Page{Source: score.Source{Kind: kind}, Record: id, Below: 1 << 62, Limit: 1000})
		if err != nil {
			return err
		}
		for _, one := range found {
			metric, ok := strings.CutPrefix(one.Metric, "feedback.")
			if !ok {
				continue
			}
			subject, about := subjectOf(one.Subject)
			if !about || !negative(metric, one) {
				return nil
			}
			return s.open(ctx, org, look{Source: SourceUser, Subject: subject, Reasons: []string{reasonFeedback}})
		}
	}
	return errNoFeedback
}

// negative reports whether feedback says that the answer is bad: a thumb down, a low
// rating, or what would have been right instead.
func negative(kind string, one score.Score) bool {
	switch kind {
	case "thumbs":
		return one.Value != nil && *one.Value == 0
	case "rating":
		return one.Value != nil && *one.Value < disliked
	}
	return kind == "correction"
}
