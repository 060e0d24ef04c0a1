package annotator

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	agree "github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/report"
)

// toReport is a panel as its page shows it, with the texts of the hardest items.
func (s *Service) toReport(ctx context.Context, org principal.OrgID, p Panel) (report.Task, error) {
	names := p.names()
	out := report.Task{
		Name: p.Task.Name, MeasuredAt: p.MeasuredAt, Required: requiredAccuracy, Abstained: p.Abstained,
		Agreement: p.Together, Consensus: p.Consensus, Quality: slices.Clone(p.Quality), Undecided: len(p.Hardest), Unseen: &p.Unseen,
	}
	out.Agreement.Pairs, out.Consensus.Annotators = slices.Clone(p.Together.Pairs), slices.Clone(p.Consensus.Annotators)
	for i, two := range out.Agreement.Pairs {
		out.Agreement.Pairs[i].First, out.Agreement.Pairs[i].Second = names[two.First], names[two.Second]
	}
	for i, a := range out.Consensus.Annotators {
		out.Consensus.Annotators[i].Annotator = names[a.Annotator]
	}
	for i, q := range out.Quality {
		out.Quality[i].Annotator = names[q.Annotator]
	}
	var err error
	if out.Overlap, err = agree.Plan(p.Together.Overall.Alpha, wantedError); err != nil {
		return out, err
	}
	shown := p.Hardest[:min(len(p.Hardest), report.MaxHardest)]
	out.Hidden = len(p.Hardest) - len(shown)
	ids := make([]int64, len(shown))
	for i, h := range shown {
		ids[i] = h.ID
	}
	contents, err := s.annotations.Contents(ctx, org, p.Task.ID, ids)
	if err != nil {
		return out, err
	}
	said := map[int64][]report.Said{}
	for _, v := range p.all {
		if slices.Contains(ids, v.Item) {
			said[v.Item] = append(said[v.Item], report.Said{Annotator: names[p.keys[v.Person]], Label: v.Label})
		}
	}
	for _, h := range shown {
		one := report.HardItem{Consensus: h.Item, Reasons: h.Reasons, Said: said[h.ID]}
		one.Input, one.Output = texts(contents[h.ID])
		out.Hardest = append(out.Hardest, one)
	}
	return out, nil
}

// names are what the page calls people; those with the same name are told apart by
// the beginning of their ids.
func (p Panel) names() map[string]string {
	count, out := map[string]int{}, make(map[string]string, len(p.People))
	for key := range p.People {
		name, _, _ := strings.Cut(key, "\x00")
		count[name]++
	}
	for key := range p.People {
		name, id, _ := strings.Cut(key, "\x00")
		switch {
		case name == "":
			name = id
		case count[name] > 1:
			name += " (" + id[:8] + ")"
		}
		out[key] = name
	}
	return out
}

// texts are the question and the answer that an item shows; all of it is the question
// if it has no such parts.
func texts(content jsontext.Value) (input, output jsontext.Value) {
	var parts struct {
		Input  jsontext.Value `json:"input"`
		Output jsontext.Value `json:"output"`
	}
	if content.Kind() != '{' || json.Unmarshal(content, &parts) != nil || parts.Input == nil {
		return content, nil
	}
	return parts.Input, parts.Output
}
