package judge

import (
	"context"
	"encoding/hex"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

const tag = "Judges"

// Path is the path of a judge.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the judge."`
}

// Number is the number behind the path; any other text is the id of no judge.
func (p Path) Number() (int64, error) {
	return httpapi.Number(p.ID, ErrNotFound)
}

type createBody struct {
	Key     string `json:"key" pattern:"^[a-z][a-z0-9_-]{0,63}$" patternDescription:"lower-case letters, digits, _ and -, beginning with a letter" example:"helpfulness" doc:"Name for programs, unique in the organization; the judge's metric is judge:<key>. It cannot be changed."`
	Starter string `json:"starter,omitempty" maxLength:"64" doc:"Entry of the starter library that supplies every field that is not sent."`

	Name        string         `json:"name,omitempty" maxLength:"200" doc:"Name for people; the key if it is not sent."`
	Description string         `json:"description,omitempty" maxLength:"10000" doc:"What the judge is for."`
	Status      Status         `json:"status,omitempty" default:"active" enum:"draft,active" doc:"active, or draft to try the judge first."`
	Provider    string         `json:"provider" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" example:"openai" doc:"Provider of the model, as provider keys name it; simulated needs no key."`
	KeyID       int64          `json:"providerKeyId,omitempty" minimum:"1" maximum:"9007199254740991" doc:"Provider key to use; the only active one of the provider if it is not sent."`
	Model       string         `json:"model" minLength:"1" maxLength:"200" example:"gpt-4.1-mini" doc:"Model that judges."`
	Params      httpapi.Object `json:"params,omitempty" doc:"Parameters of the model: temperature, top_p, max_tokens, seed, stop."`

	Template      string           `json:"promptTemplate,omitempty" maxLength:"20000" doc:"Instructions to the judge. {{input}}, {{output}}, {{expected}}, {{context}} and {{criteria}} name parts of the material; the material itself is sent as data and never becomes part of the instructions. Required without a starter."`
	Criteria      []criterionInput `json:"criteria,omitempty" maxItems:"20" doc:"What is rated, each on the scale; the score is their weighted mean. Without criteria the answer is rated as a whole."`
	Scale         *scaleInput      `json:"scale,omitempty" doc:"Scale of ratings; binary if it is not sent."`
	Pairwise      bool             `json:"pairwise,omitempty" doc:"Compares the output with the expected output, once in each order; a verdict that depends on the order is an abstention."`
	PassThreshold *float64         `json:"passThreshold,omitempty" minimum:"0" maximum:"1" doc:"Score from which an answer passes; 0.5 if it is not sent, or 1 on a binary scale with criteria."`
	AllowAbstain  *bool            `json:"allowAbstain,omitempty" doc:"Whether the judge may say that the material does not allow a rating; true if it is not sent."`
	FewShot       []exampleInput   `json:"fewShot,omitempty" maxItems:"20" doc:"Labelled items to show to the judge. Only items of calibration datasets in the split train are accepted; they are never used to measure the judge."`
	Repeats       int              `json:"repeats,omitempty" minimum:"1" maximum:"9" doc:"Opinions per verdict: the majority of labels, the median of numbers. 1 if it is not sent."`

	SpendCapUSD *float64 `json:"spendCapUsd,omitempty" minimum:"0" maximum:"1000000" doc:"What the judge may cost in all, in US dollars; when it is reached, no more calls are made."`

	LabelKey      string   `json:"labelKey,omitempty" maxLength:"64" doc:"Label of dataset items that holds what people say; the key if it is not sent."`
	LabelSampling Sampling `json:"labelSampling,omitempty" default:"unknown" doc:"How the items that people labelled were chosen. random allows conclusions about the items without a label."`
}

type updateBody struct {
	Name            httpapi.Set[string]             `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name."`
	Description     httpapi.Patch[string]           `json:"description,omitzero" maxLength:"10000" doc:"New description; null removes it."`
	Status          httpapi.Set[Status]             `json:"status,omitzero" doc:"active puts a draft to use or restores a retired judge; retired stops its use."`
	Provider        httpapi.Set[string]             `json:"provider,omitzero" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" doc:"New provider; without providerKeyId its only active key is used."`
	KeyID           httpapi.Set[int64]              `json:"providerKeyId,omitzero" minimum:"1" maximum:"9007199254740991" doc:"New provider key."`
	Model           httpapi.Set[string]             `json:"model,omitzero" minLength:"1" maxLength:"200" doc:"New model."`
	Params          httpapi.Patch[httpapi.Object]   `json:"params,omitzero" doc:"New parameters of the model; null removes them."`
	Template        httpapi.Set[string]             `json:"promptTemplate,omitzero" minLength:"1" maxLength:"20000" doc:"New instructions."`
	Criteria        httpapi.Patch[[]criterionInput] `json:"criteria,omitzero" maxItems:"20" doc:"New criteria, replacing all existing ones; null removes them."`
	Scale           httpapi.Set[scaleInput]         `json:"scale,omitzero" doc:"New scale."`
	PassThreshold   httpapi.Set[float64]            `json:"passThreshold,omitzero" minimum:"0" maximum:"1" doc:"New score from which an answer passes."`
	AllowAbstain    httpapi.Set[bool]               `json:"allowAbstain,omitzero" doc:"Whether the judge may abstain."`
	FewShot         httpapi.Patch[[]exampleInput]   `json:"fewShot,omitzero" maxItems:"20" doc:"New examples, replacing all existing ones, with their labels as they are now; null removes them."`
	Repeats         httpapi.Set[int]                `json:"repeats,omitzero" minimum:"1" maximum:"9" doc:"New number of opinions per verdict."`
	SpendCapUSD     httpapi.Patch[float64]          `json:"spendCapUsd,omitzero" minimum:"0" maximum:"1000000" doc:"New limit of what the judge may cost in all; null removes it."`
	LabelKey        httpapi.Set[string]             `json:"labelKey,omitzero" minLength:"1" maxLength:"64" doc:"New label that holds what people say."`
	LabelSampling   httpapi.Set[Sampling]           `json:"labelSampling,omitzero" doc:"How the items that people labelled were chosen."`
	ExpectedVersion int64                           `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

type criterionInput struct {
	Key         string        `json:"key" pattern:"^[a-z][a-z0-9_-]{0,63}$" doc:"Name of the criterion."`
	Description string        `json:"description" minLength:"1" maxLength:"4000" doc:"What is rated."`
	Weight      float64       `json:"weight,omitempty" minimum:"0" maximum:"1000" default:"1" doc:"Share in the score, relative to the other criteria."`
	Anchors     []anchorInput `json:"anchors,omitempty" maxItems:"20" doc:"What deserves which rating."`
}

type anchorInput struct {
	Rating      string `json:"rating" minLength:"1" maxLength:"64" doc:"Rating on the scale: a label, or a number as text."`
	Description string `json:"description" minLength:"1" maxLength:"4000" doc:"What deserves the rating."`
}

type scaleInput struct {
	Type   ScaleType    `json:"type" doc:"Type of the scale."`
	Min    *float64     `json:"min,omitempty" doc:"Worst rating of a numeric or likert scale; 1 on a likert scale and 0 on a numeric one if it is not sent."`
	Max    *float64     `json:"max,omitempty" doc:"Best rating of a numeric or likert scale; 5 on a likert scale and 1 on a numeric one if it is not sent."`
	Labels []labelInput `json:"labels,omitempty" maxItems:"20" doc:"Labels of a categorical scale."`
}

type labelInput struct {
	Name        string  `json:"name" minLength:"1" maxLength:"64" doc:"Label."`
	Score       float64 `json:"score" minimum:"0" maximum:"1" doc:"Score that the label stands for."`
	Description string  `json:"description,omitempty" maxLength:"4000" doc:"What deserves the label."`
}

type exampleInput struct {
	Dataset httpapi.IDInput `json:"datasetId" doc:"A calibration dataset."`
	Item    httpapi.IDInput `json:"datasetItemId" doc:"An item of the dataset, in the split train."`
	Note    string          `json:"note,omitempty" maxLength:"2000" doc:"Why people gave the label, shown to the judge as its reasoning."`
}

// configBody is a judge on the wire.
type configBody struct {
	ID          httpapi.ID `json:"id" doc:"Id of the judge."`
	Key         string     `json:"key" doc:"Name for programs; the judge's metric is judge:<key>."`
	Name        string     `json:"name" doc:"Name for people."`
	Description *string    `json:"description" doc:"What the judge is for."`
	Status      Status     `json:"status" doc:"A draft can be tried; an active judge can be used by evaluations; a retired one gives no verdicts."`
	SpecFields
	LabelKey      string       `json:"label_key" doc:"Label of dataset items that holds what people say."`
	LabelSampling Sampling     `json:"label_sampling" doc:"How the items that people labelled were chosen."`
	SpendCapUSD   *float64     `json:"spend_cap_usd" doc:"What the judge may cost in all, in US dollars; null without a limit."`
	ConfigVersion int          `json:"config_version" doc:"Number of the current version; results name the version that gave them."`
	Digest        string       `json:"digest" doc:"Digest of everything that can change a verdict."`
	CreatedAt     httpapi.Time `json:"created_at" doc:"When the judge was created."`
	UpdatedAt     httpapi.Time `json:"updated_at" doc:"When the judge last changed."`
	Version       int64        `json:"version" doc:"Counts changes of the judge, including those that make no new config_version; see If-Match."`
}

// Noun is what documents call it.
func (configBody) Noun() string { return "judge" }

// SpecFields are what can change a verdict, on the wire.
type SpecFields struct {
	Provider      string          `json:"provider" doc:"Provider of the model."`
	KeyID         *int64          `json:"provider_key_id" doc:"Provider key that is used; null if the provider needs none."`
	Model         string          `json:"model" doc:"Model that judges."`
	Params        httpapi.Object  `json:"params" doc:"Parameters of the model."`
	Template      string          `json:"prompt_template" doc:"Instructions to the judge."`
	Criteria      []criterionBody `json:"criteria" doc:"What is rated."`
	Scale         scaleBody       `json:"scale" doc:"Scale of ratings."`
	Pairwise      bool            `json:"pairwise" doc:"Whether the judge compares the output with the expected output."`
	PassThreshold float64         `json:"pass_threshold" doc:"Score from which an answer passes."`
	AllowAbstain  bool            `json:"allow_abstain" doc:"Whether the judge may abstain."`
	FewShot       []exampleBody   `json:"few_shot" doc:"Labelled items that are shown to the judge."`
	Repeats       int             `json:"repeats" doc:"Opinions per verdict."`
}

type criterionBody struct {
	Key         string       `json:"key" doc:"Name of the criterion."`
	Description string       `json:"description" doc:"What is rated."`
	Weight      float64      `json:"weight" doc:"Share in the score, relative to the other criteria."`
	Anchors     []anchorBody `json:"anchors" doc:"What deserves which rating."`
}

type anchorBody struct {
	Rating      string `json:"rating" doc:"Rating on the scale."`
	Description string `json:"description" doc:"What deserves the rating."`
}

type scaleBody struct {
	Type   ScaleType   `json:"type" doc:"Type of the scale."`
	Min    *float64    `json:"min" doc:"Worst rating of a numeric or likert scale; null on others."`
	Max    *float64    `json:"max" doc:"Best rating of a numeric or likert scale; null on others."`
	Labels []labelBody `json:"labels" doc:"Labels of a categorical scale."`
}

type labelBody struct {
	Name        string  `json:"name" doc:"Label."`
	Score       float64 `json:"score" doc:"Score that the label stands for."`
	Description *string `json:"description" doc:"What deserves the label."`
}

type exampleBody struct {
	Dataset httpapi.ID `json:"dataset_id" doc:"The calibration dataset."`
	Item    httpapi.ID `json:"dataset_item_id" doc:"The item."`
	Label   string     `json:"label" doc:"What people said about the item when the version was made."`
	Note    *string    `json:"note" doc:"Why people gave the label."`
}

type listVersionsInput struct {
	Path
	httpapi.CursorPage
}

type listVersionsBody struct {
	Versions []versionBody `json:"versions" doc:"The versions of this page, newest first."`
	httpapi.CursorPaging
}

// versionBody is a version on the wire.
type versionBody struct {
	ID            httpapi.ID `json:"id" doc:"Id of the version within the judge: its number."`
	ConfigVersion int        `json:"config_version" doc:"Number of the version."`
	SpecFields
	Digest    string        `json:"digest" doc:"Digest of everything that can change a verdict."`
	CreatedBy httpapi.Actor `json:"created_by" doc:"Who made the version."`
	CreatedAt httpapi.Time  `json:"created_at" doc:"When the version was made."`
}

func (s *Service) getVersions(ctx context.Context, in *listVersionsInput) (*httpapi.Body[listVersionsBody], error) {
	id, err := in.Number()
	if err != nil {
		return nil, err
	}
	versions := resource.List[Version, versionBody]{
		Cursor: "judge versions",
		ID:     func(v Version) int64 { return int64(v.Number) },
		Show:   resource.By(s.tenancy, func(v Version) principal.Actor { return v.CreatedBy }, toVersionBody),
	}
	shown, paging, err := versions.Page(ctx, in.CursorPage, func(p postgres.Page) ([]Version, int64, error) {
		return s.Versions(ctx, principal.From(ctx).Org, id, p)
	})
	return httpapi.NewBody(listVersionsBody{shown, paging}), err
}

func toVersionBody(v Version, by httpapi.Actor) versionBody {
	return versionBody{
		ID: httpapi.ID(v.Number), ConfigVersion: v.Number, SpecFields: toSpecFields(v.Spec), Digest: toDigest(v.Digest),
		CreatedBy: by, CreatedAt: httpapi.Time(v.CreatedAt),
	}
}

// config is the judge that a body asks for.
func (b createBody) config() (Config, error) {
	var spec Spec
	c := Config{Key: b.Key, Name: b.Name, Description: b.Description, Status: b.Status, LabelKey: b.LabelKey, Sampling: b.LabelSampling}
	if b.Starter != "" {
		from, ok := starterOf(b.Starter)
		if !ok {
			return c, fault.Invalid("body", "/starter", "unknown_reference", "is not in the starter library: GET /api/llm-judge/starters lists it")
		}
		spec = from.Spec
		if c.Name == "" {
			c.Name = from.Name
		}
		if c.Description == "" {
			c.Description = from.Summary
		}
	} else {
		spec = Spec{Scale: Scale{Type: ScaleBinary}, AllowAbstain: true, Repeats: 1}
		if b.Template == "" {
			return c, fault.Invalid("body", "/promptTemplate", "required", "is required without a starter")
		}
	}
	if c.Name == "" {
		c.Name = c.Key
	}
	if c.LabelKey == "" {
		c.LabelKey = c.Key
	}
	spec.Provider, spec.KeyID, spec.Model, spec.Params = b.Provider, b.KeyID, b.Model, b.Params.Text()
	if b.Template != "" {
		spec.Template = b.Template
	}
	if b.Criteria != nil {
		spec.Criteria = fromCriteria(b.Criteria)
	}
	if b.Scale != nil {
		spec.Scale = b.Scale.scale()
	}
	spec.Pairwise = spec.Pairwise || b.Pairwise
	if b.AllowAbstain != nil {
		spec.AllowAbstain = *b.AllowAbstain
	}
	if b.Repeats != 0 {
		spec.Repeats = b.Repeats
	}
	if b.Starter == "" {
		spec.PassThreshold = 0.5
		if spec.Scale.Type == ScaleBinary && len(spec.Criteria) > 0 {
			spec.PassThreshold = 1
		}
	}
	if b.PassThreshold != nil {
		spec.PassThreshold = *b.PassThreshold
	}
	spec.Examples = fromExamples(b.FewShot)
	c.Current.Spec, c.CapNanoUSD = spec, nano(b.SpendCapUSD)
	return c, nil
}

// apply makes the sent changes.
func (b updateBody) apply(c *Config) {
	s := &c.Current.Spec
	b.Name.Apply(&c.Name)
	b.Description.Apply(&c.Description)
	b.Status.Apply(&c.Status)
	b.LabelKey.Apply(&c.LabelKey)
	b.LabelSampling.Apply(&c.Sampling)
	if b.Provider.Sent && b.Provider.Value != s.Provider {
		s.Provider, s.KeyID = b.Provider.Value, 0
	}
	b.KeyID.Apply(&s.KeyID)
	b.Model.Apply(&s.Model)
	b.Template.Apply(&s.Template)
	b.PassThreshold.Apply(&s.PassThreshold)
	b.AllowAbstain.Apply(&s.AllowAbstain)
	b.Repeats.Apply(&s.Repeats)
	if b.SpendCapUSD.Sent {
		c.CapNanoUSD = nano(b.SpendCapUSD.Pointer())
	}
	if b.Params.Sent {
		s.Params = b.Params.Value.Text()
	}
	if b.Criteria.Sent {
		s.Criteria = fromCriteria(b.Criteria.Value)
	}
	if b.Scale.Sent {
		s.Scale = b.Scale.Value.scale()
	}
	if b.FewShot.Sent {
		s.Examples = fromExamples(b.FewShot.Value)
	}
}

// nano is an amount of US dollars in billionths, nil if there is none.
func nano(usd *float64) *int64 {
	if usd == nil {
		return nil
	}
	n := int64(provider.NanoUSD(*usd))
	return &n
}

func fromCriteria(all []criterionInput) (out []Criterion) {
	for _, c := range all {
		one := Criterion{Key: c.Key, Description: c.Description, Weight: c.Weight}
		for _, a := range c.Anchors {
			one.Anchors = append(one.Anchors, Anchor(a))
		}
		out = append(out, one)
	}
	return out
}

func fromExamples(all []exampleInput) (out []Example) {
	for _, x := range all {
		out = append(out, Example{Dataset: int64(x.Dataset), Item: int64(x.Item), Note: x.Note})
	}
	return out
}

func (b scaleInput) scale() Scale {
	s := Scale{Type: b.Type}
	switch b.Type {
	case ScaleLikert:
		s.Min, s.Max = 1, 5
	case ScaleNumeric:
		s.Min, s.Max = 0, 1
	}
	if b.Min != nil {
		s.Min = *b.Min
	}
	if b.Max != nil {
		s.Max = *b.Max
	}
	for _, l := range b.Labels {
		s.Labels = append(s.Labels, Label(l))
	}
	return s
}

func toConfigBody(c Config) configBody {
	return configBody{
		ID: httpapi.ID(c.ID), Key: c.Key, Name: c.Name, Description: httpapi.OrNull(c.Description), Status: c.Status, SpecFields: toSpecFields(c.Current.Spec),
		LabelKey: c.LabelKey, LabelSampling: c.Sampling, ConfigVersion: c.Current.Number, Digest: toDigest(c.Current.Digest),
		SpendCapUSD: dollars(c.CapNanoUSD), CreatedAt: httpapi.Time(c.CreatedAt), UpdatedAt: httpapi.Time(c.UpdatedAt), Version: c.Changes,
	}
}

// dollars is an amount of billionths in US dollars, nil if there is none.
func dollars(nano *int64) *float64 {
	if nano == nil {
		return nil
	}
	usd := float64(*nano) / 1e9
	return &usd
}

func toDigest(d [32]byte) string { return "sha256:" + hex.EncodeToString(d[:]) }

func toSpecFields(s Spec) SpecFields {
	out := SpecFields{
		Provider: s.Provider, KeyID: httpapi.OrNull(s.KeyID), Model: s.Model, Params: httpapi.Object(s.Params), Template: s.Template,
		Criteria: []criterionBody{}, Scale: toScaleBody(s.Scale), Pairwise: s.Pairwise, PassThreshold: s.PassThreshold, AllowAbstain: s.AllowAbstain,
		FewShot: []exampleBody{}, Repeats: s.Repeats,
	}
	for _, c := range s.Criteria {
		one := criterionBody{Key: c.Key, Description: c.Description, Weight: c.Weight, Anchors: []anchorBody{}}
		for _, a := range c.Anchors {
			one.Anchors = append(one.Anchors, anchorBody(a))
		}
		out.Criteria = append(out.Criteria, one)
	}
	for _, x := range s.Examples {
		out.FewShot = append(out.FewShot, exampleBody{Dataset: httpapi.ID(x.Dataset), Item: httpapi.ID(x.Item), Label: x.Label, Note: httpapi.OrNull(x.Note)})
	}
	return out
}

func toScaleBody(s Scale) scaleBody {
	b := scaleBody{Type: s.Type, Labels: []labelBody{}}
	if s.Type == ScaleNumeric || s.Type == ScaleLikert {
		b.Min, b.Max = &s.Min, &s.Max
	}
	for _, l := range s.Labels {
		b.Labels = append(b.Labels, labelBody{l.Name, l.Score, httpapi.OrNull(l.Description)})
	}
	return b
}
