package adjudication

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Entry says that an item of a dataset rests on ground truth.
type Entry struct {
	ID            int64
	Item          int64
	Truth         int64
	Purpose       dataset.Purpose // golden or calibration
	Dataset       int64
	DatasetItem   int64
	Split         string // empty in a golden dataset
	Judge         int64  // whose label the item has; zero if none was named
	Tags          []string
	Justification string
	By            principal.Actor
	At            time.Time
}

// Entering asks for an entry.
type Entering struct {
	Purpose       dataset.Purpose
	Dataset       int64  // zero for the default set
	Split         string // empty for the split that follows from the content
	Judge         int64
	Weight        float64
	Tags          []string
	Justification string
}

// ErrNoActive is returned when an item without active ground truth is to enter a
// dataset.
var ErrNoActive = fault.New(fault.Conflict, "precondition_missing", "The item has no active ground truth. Only ground truth enters calibration and golden datasets.")

// PreparedEntry is ground truth that is ready to enter a dataset: what was read and
// encoded before the transaction.
type PreparedEntry struct {
	asked Entering
	truth int64
	split string
	items dataset.Prepared
}

// PrepareEntry makes ground truth ready to enter a dataset. The default set is made if
// there is none.
func (s *Service) PrepareEntry(ctx context.Context, org principal.OrgID, id int64, in Entering) (PreparedEntry, error) {
	p := PreparedEntry{asked: in}
	i, err := s.Find(ctx, org, id)
	if err != nil {
		return p, err
	}
	switch {
	case i.Status != StatusClosed:
		return p, transitions.In(ErrTransition, i.Status)
	case i.Truth == nil:
		return p, ErrNoActive
	}
	if p.asked.Dataset, err = s.set(ctx, org, in); err != nil {
		return p, err
	}
	p.truth = i.Truth.ID
	if in.Purpose == dataset.PurposeCalibration {
		if p.split, err = splitOf(in.Split, i.Content.Input); err != nil {
			return p, err
		}
	}
	labels, err := s.labels(ctx, org, i, *i.Truth, in.Judge)
	if err != nil {
		return p, err
	}
	item := dataset.Item{Content: enter(*i.Content, *i.Truth, in.Purpose, labels), Split: p.split, Weight: in.Weight, Source: dataset.Source{Type: "adjudication", ID: strconv.FormatInt(id, 10)}}
	p.items, err = s.datasets.PrepareItems(ctx, org, p.asked.Dataset, []dataset.Item{item})
	p.items = p.items.Promoted()
	return p, err
}

// EnterTx adds an item of ground truth to a dataset. Adding it twice to the same set
// is adding it once. It returns dataset.ErrMoved if what was prepared is outdated.
func (s *Service) EnterTx(ctx context.Context, tx postgres.Tx, id int64, p PreparedEntry) (Item, error) {
	before, err := s.lockTx(ctx, tx, id)
	switch {
	case err != nil:
		return Item{}, err
	case before.Status != StatusClosed || before.Truth == nil || before.Truth.ID != p.truth:
		return Item{}, dataset.ErrMoved
	}
	after := before
	after.Entries = slices.Clone(before.Entries)
	if n := slices.IndexFunc(before.Entries, func(e Entry) bool { return e.Dataset == p.asked.Dataset }); n >= 0 {
		_, err := s.datasets.FindItemTx(ctx, tx, p.asked.Dataset, before.Entries[n].DatasetItem)
		if err == nil || !errors.Is(err, dataset.ErrItemNotFound) {
			return before, err
		}
		// Somebody removed it from the dataset, so that it is added anew.
		if err := s.store.deleteEntryTx(ctx, tx, before.Entries[n].ID); err != nil {
			return Item{}, err
		}
		after.Entries = slices.Delete(after.Entries, n, n+1)
	}
	added, err := s.datasets.AddItemsTx(ctx, tx, p.items)
	if err != nil {
		return Item{}, err
	}
	e := Entry{
		Item: id, Truth: p.truth, Purpose: p.asked.Purpose, Dataset: p.asked.Dataset, DatasetItem: added[0].ID, Split: p.split, Judge: p.asked.Judge,
		Tags: p.asked.Tags, Justification: p.asked.Justification, By: principal.ActorOf(ctx), At: s.now(),
	}
	if e.ID, err = s.store.insertEntryTx(ctx, tx, e); err != nil {
		return Item{}, err
	}
	after.Entries = append(after.Entries, e)
	if err := s.moveTx(ctx, tx, before, &after); err != nil {
		return Item{}, err
	}
	happened := eventCalibrated
	if e.Purpose == dataset.PurposeGolden {
		happened = eventPromoted
	}
	return after, change.RecordTx(ctx, s.log, tx, happened, id, &before, &after)
}

// enter is the content of an item of a dataset that rests on ground truth: what was
// asked and answered, what would have been right, and what people say of it.
func enter(c dataset.Content, t GroundTruth, purpose dataset.Purpose, labels map[string]jsontext.Value) dataset.Content {
	switch {
	case t.Expected != nil:
		c.ExpectedOutput = t.Expected
	case purpose == dataset.PurposeGolden && c.ExpectedOutput == nil && t.passes():
		c.ExpectedOutput = c.Output // an answer that passes is one that is right
	}
	c.Labels = merged(c.Labels, labels)
	return c
}

// merged are labels with others over them.
func merged(labels jsontext.Value, over map[string]jsontext.Value) jsontext.Value {
	return edited(labels, func(all map[string]jsontext.Value) { maps.Copy(all, over) })
}

// without are labels without those that former ground truth gave.
func without(labels jsontext.Value, former map[string]jsontext.Value) jsontext.Value {
	return edited(labels, func(all map[string]jsontext.Value) {
		maps.DeleteFunc(all, func(name string, _ jsontext.Value) bool { return former[name] != nil })
	})
}

// edited are labels after a change.
func edited(labels jsontext.Value, edit func(map[string]jsontext.Value)) jsontext.Value {
	all := map[string]jsontext.Value{}
	if json.Unmarshal(labels, &all) != nil || all == nil {
		all = map[string]jsontext.Value{}
	}
	edit(all)
	text, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		return labels // cannot happen: every part was JSON
	}
	return text
}

// plainLabel is the label of items whose ground truth is meant for no judge in
// particular.
const plainLabel = "label"

// errOffScale is returned when the judge that ground truth is for has another scale.
var errOffScale = fault.Invalid("body", "/judgeConfigId", "unknown_reference", "names a judge on whose scale the ground truth is not: state ground truth with a label or a score of the scale")

// labels are what ground truth says, by the label keys of the judges that it is for:
// the one that is named, or those among the candidates.
func (s *Service) labels(ctx context.Context, org principal.OrgID, i Item, t GroundTruth, named int64) (map[string]jsontext.Value, error) {
	var keys []string
	var ids []int64
	if named != 0 {
		ids = []int64{named}
	} else {
		for _, c := range i.Candidates {
			if key, ok := strings.CutPrefix(c.Origin, judge.MetricPrefix); ok && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	out := map[string]jsontext.Value{}
	if len(keys)+len(ids) > 0 {
		judges, err := s.judges.Named(ctx, org, keys, ids)
		if err != nil {
			return nil, err
		}
		if named != 0 && len(judges) == 0 {
			return nil, fault.Invalid("body", "/judgeConfigId", "unknown_reference", "is not a judge of the organization")
		}
		for _, c := range judges {
			v, ok := c.Current.Spec.HumanLabel(t.Label, t.Score)
			if !ok && named != 0 {
				return nil, errOffScale
			}
			if ok {
				out[c.LabelKey] = v
			}
		}
	}
	if len(out) == 0 {
		out[plainLabel] = plain(t)
	}
	return out, nil
}

// plain is ground truth as a label.
func plain(t GroundTruth) jsontext.Value {
	if t.Label == "" && t.Score != nil {
		return jsontext.Value(strconv.FormatFloat(*t.Score, 'g', -1, 64))
	}
	text, err := jsontext.AppendQuote(nil, t.Label)
	if err != nil {
		return jsontext.Value(`""`) // cannot happen: labels are valid text
	}
	return text
}

// Shares of the splits. Examples need few items; measuring needs many.
const (
	trainShare = 0.2
	devShare   = 0.3
)

// splitOf is the split that is asked for, or else the one that follows from what was
// asked: every label gets the same shares, and all answers to the same question, in
// whichever set and with whichever label, are in the same split, so that a judge is never
// shown what measures it.
func splitOf(wanted string, input jsontext.Value) (string, error) {
	if wanted != "" {
		return wanted, nil
	}
	digest, err := dataset.Assessed(input, nil)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte("split\x00"), digest[:]...))
	at := float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
	switch {
	case at < trainShare:
		return "train", nil
	case at < trainShare+devShare:
		return "dev", nil
	}
	return "test", nil
}
