package labelfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// task is a task of Label Studio: an item with its answers. Members that we do not
// know are left out.
type task struct {
	ID          int64           `json:"id,omitzero"`
	Data        jsontext.Value  `json:"data"`
	Meta        *taskMeta       `json:"meta,omitempty"`
	Annotations []taskAnswer    `json:"annotations"`
	Predictions []taskPredicted `json:"predictions"`
}

// taskMeta is where Label Studio keeps what it does not show, and gives it back.
type taskMeta struct {
	Assay *ownMeta `json:"assay,omitempty"`
}

// ownMeta is what the format has no place for.
type ownMeta struct {
	// Wrapped says that the content is the member text of the data, since data is
	// always an object.
	Wrapped    bool           `json:"wrapped,omitzero"`
	Status     string         `json:"status,omitzero"`
	Suggestion jsontext.Value `json:"suggestion,omitzero"`
}

// taskAnswer is an annotation of a task.
type taskAnswer struct {
	CompletedBy  jsontext.Value `json:"completed_by,omitzero"`
	Result       []result       `json:"result"`
	WasCancelled bool           `json:"was_cancelled"`
	GroundTruth  bool           `json:"ground_truth"`
	LeadTime     *float64       `json:"lead_time,omitempty"` // in seconds
	CreatedAt    string         `json:"created_at,omitzero"`
}

// taskPredicted is what a model says about a task, which is not an answer.
type taskPredicted struct{}

// result is one value of an annotation.
type result struct {
	ID       string         `json:"id,omitzero"`
	FromName string         `json:"from_name"`
	ToName   string         `json:"to_name"`
	Type     string         `json:"type"`
	Value    resultValue    `json:"value"`
	Meta     jsontext.Value `json:"meta,omitzero"`
}

// resultValue has the member that is called like the type of the result, or text for a
// textarea.
type resultValue struct {
	Choices []string       `json:"choices,omitempty"`
	Rating  *float64       `json:"rating,omitempty"`
	Number  *float64       `json:"number,omitempty"`
	Text    jsontext.Value `json:"text,omitzero"` // a text or a list of them
}

// resultMeta says what a value of ours was, where Label Studio has one type for several.
type resultMeta struct {
	Assay string `json:"assay"`
}

// What values of ours are.
const (
	isRating     = "rating"
	isLabel      = "label"
	isFeedback   = "feedback"
	isConfidence = "confidence"
	isCorrection = "corrected_output"
	isReason     = "skipped"
	isSource     = "source"
	// Labels by name.
	isChoice  = "labels:choice"
	isChoices = "labels:choices"
	isNumber  = "labels:number"
	isText    = "labels:text"
	isJSON    = "labels:json" // anything else
)

// longChoice is where a text is no longer shown as a choice.
const longChoice = 200

// entries reads a list of tasks.
func entries(from *bufio.Reader) (func() (Line, error), error) {
	in := jsontext.NewDecoder(from, jsontext.AllowDuplicateNames(true))
	if in.PeekKind() != '[' {
		return nil, errors.New("the file is not a list of tasks: export it from Label Studio as JSON")
	}
	if _, err := in.ReadToken(); err != nil {
		return nil, fmt.Errorf("the file is not JSON: %w", err)
	}
	number := 0
	return func() (Line, error) {
		if in.PeekKind() == ']' {
			return Line{}, io.EOF
		}
		number++
		text, err := in.ReadValue()
		if err != nil {
			return Line{}, fmt.Errorf("entry %d is not JSON: %w", number, err)
		}
		l := Line{Number: number}
		l.Record, l.Err = fromTask(text)
		return l, nil
	}, nil
}

func fromTask(text jsontext.Value) (r Record, err error) {
	var t task
	if text.Kind() != '{' {
		return r, errors.New("is not a task: it must be an object with data")
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return r, fmt.Errorf("is not a task of Label Studio: %w", err)
	}
	if t.Data.Kind() != '{' {
		return r, errors.New("has no data: a task of Label Studio has an object with what people see")
	}
	r.ID, r.Content = max(t.ID, 0), t.Data.Clone()
	if t.Meta != nil && t.Meta.Assay != nil {
		own := t.Meta.Assay
		if r.Status, r.Suggestion = own.Status, own.Suggestion.Clone(); own.Wrapped {
			var data struct {
				Text jsontext.Value `json:"text"`
			}
			if err := json.Unmarshal(t.Data, &data); err != nil {
				return r, fmt.Errorf("has data that is not an object: %w", err)
			}
			r.Content = data.Text
		}
	}
	for i, a := range t.Annotations {
		answer, err := a.answer()
		if err != nil {
			return r, fmt.Errorf("annotation %d %w", i+1, err)
		}
		r.Answers = append(r.Answers, answer)
	}
	return r, r.check()
}

// answer reads an annotation.
func (t taskAnswer) answer() (a Answer, err error) {
	a.Annotator = person(t.CompletedBy)
	if t.LeadTime != nil {
		ms := math.Round(*t.LeadTime * 1000)
		if !(ms >= 0) {
			return a, errors.New("has a lead_time that is negative")
		}
		n := int64(min(ms, maxDuration)) // somebody left it open over night
		a.DurationMS = &n
	}
	if t.CreatedAt != "" {
		if a.CreatedAt, err = time.Parse(time.RFC3339Nano, t.CreatedAt); err != nil {
			return a, fmt.Errorf("has a created_at that is not a time: %q", t.CreatedAt)
		}
	}
	count := map[string]int{}
	for _, r := range t.Result {
		count[r.Type]++
	}
	for _, r := range t.Result {
		if err := r.into(&a, count); err != nil {
			return a, fmt.Errorf("has the result %q, which %w", r.FromName, err)
		}
	}
	if t.WasCancelled {
		// What was chosen before an item was skipped is not an answer.
		why := a.Skipped
		if why == "" {
			why = "skipped in Label Studio"
		}
		a = Answer{Annotator: a.Annotator, Source: a.Source, Skipped: why, DurationMS: a.DurationMS, CreatedAt: a.CreatedAt}
	}
	return a, nil
}

// into adds a value to an answer. What we wrote says what it is. Of what others wrote,
// the only choice is the label, the only rating the rating and the only text the
// feedback; where there are several, each is a label by its name.
func (r result) into(a *Answer, count map[string]int) error {
	v := r.Value
	texts, err := v.texts()
	if err != nil {
		return err
	}
	var own resultMeta
	if r.Meta.Kind() == '{' {
		_ = json.Unmarshal(r.Meta, &own) // what others keep there is not ours
	}
	switch own.Assay {
	case isLabel:
		if len(v.Choices) == 1 {
			a.Label = v.Choices[0]
			return nil
		}
	case isRating:
		a.Rating = v.Rating
		if a.Rating == nil {
			a.Rating = v.Number
		}
		return nil
	case isConfidence:
		a.Confidence = v.Number
		return nil
	case isFeedback:
		a.Feedback = strings.Join(texts, "\n")
		return nil
	case isReason:
		a.Skipped = strings.Join(texts, "\n")
		return nil
	case isSource:
		a.Source = strings.Join(texts, "\n")
		return nil
	case isChoice:
		if len(v.Choices) == 1 {
			return a.label(r.FromName, v.Choices[0])
		}
	case isChoices:
		return a.label(r.FromName, v.Choices)
	case isNumber:
		return a.label(r.FromName, v.Number)
	case isText:
		return a.label(r.FromName, strings.Join(texts, "\n"))
	case isCorrection, isJSON:
		text := jsontext.Value(strings.Join(texts, "\n")).Clone()
		if !text.IsValid() {
			return errors.New("is not the JSON that it says it is")
		}
		if own.Assay == isCorrection {
			a.CorrectedOutput = text
			return nil
		}
		return a.label(r.FromName, text)
	}
	switch r.Type {
	case "choices":
		if len(v.Choices) == 0 {
			return nil
		}
		if len(v.Choices) == 1 && count[r.Type] == 1 {
			a.Label = v.Choices[0]
			return nil
		}
		if len(v.Choices) == 1 {
			return a.label(r.FromName, v.Choices[0])
		}
		return a.label(r.FromName, v.Choices)
	case "rating":
		if v.Rating != nil && count[r.Type] == 1 {
			a.Rating = v.Rating
			return nil
		}
		return a.label(r.FromName, v.Rating)
	case "number":
		return a.label(r.FromName, v.Number)
	case "textarea":
		if count[r.Type] == 1 {
			a.Feedback = strings.Join(texts, "\n")
			return nil
		}
		return a.label(r.FromName, strings.Join(texts, "\n"))
	}
	return fmt.Errorf("has the type %q: only choices, rating, number and textarea can be read", r.Type)
}

// texts are what a person wrote.
func (v resultValue) texts() (all []string, err error) {
	switch v.Text.Kind() {
	case '"':
		all = []string{""}
		err = json.Unmarshal(v.Text, &all[0])
	case '[':
		err = json.Unmarshal(v.Text, &all)
	}
	if err != nil {
		return nil, errors.New("has a text that is not one")
	}
	return all, nil
}

// label adds a label by name.
func (a *Answer) label(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("cannot be written: %w", err)
	}
	if a.Labels == nil {
		a.Labels = map[string]jsontext.Value{}
	}
	if a.Labels[name] != nil {
		return errors.New("is there twice")
	}
	a.Labels[name] = text
	return nil
}

// person is the name of who completed an annotation: by id, by address or as an object.
func person(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		var name string
		_ = json.Unmarshal(v, &name)
		return name
	case '0':
		return "user " + string(v)
	case '{':
		var who struct {
			ID    jsontext.Value `json:"id"`
			Email string         `json:"email"`
			First string         `json:"first_name"`
			Last  string         `json:"last_name"`
		}
		if json.Unmarshal(v, &who) != nil {
			return ""
		}
		if name := strings.TrimSpace(who.First + " " + who.Last); who.Email == "" && name != "" {
			return name
		}
		if who.Email == "" {
			return person(who.ID)
		}
		return who.Email
	}
	return ""
}

// toTask writes a record as a task.
func toTask(r Record) task {
	t := task{ID: r.ID, Data: r.Content, Annotations: []taskAnswer{}, Predictions: []taskPredicted{}}
	own := ownMeta{Status: r.Status, Suggestion: r.Suggestion}
	if r.Content.Kind() != '{' {
		own.Wrapped, t.Data = true, jsontext.Value(`{"text":`+string(r.Content)+`}`)
	}
	if own.Wrapped || own.Status != "" || own.Suggestion != nil {
		t.Meta = &taskMeta{Assay: &own}
	}
	for _, a := range r.Answers {
		t.Annotations = append(t.Annotations, toTaskAnswer(a))
	}
	return t
}

func toTaskAnswer(a Answer) taskAnswer {
	t := taskAnswer{Result: []result{}, WasCancelled: a.Skipped != ""}
	if a.Annotator != "" {
		who := map[string]string{"first_name": a.Annotator}
		if strings.Contains(a.Annotator, "@") {
			who = map[string]string{"email": a.Annotator}
		}
		t.CompletedBy, _ = json.Marshal(who) // a map of texts
	}
	if a.DurationMS != nil {
		seconds := float64(*a.DurationMS) / 1000
		t.LeadTime = &seconds
	}
	if !a.CreatedAt.IsZero() {
		t.CreatedAt = a.CreatedAt.Format(time.RFC3339Nano)
	}
	add := func(name, kind, is string, v resultValue) {
		meta, _ := json.Marshal(resultMeta{is}) // a text
		t.Result = append(t.Result, result{ID: "r" + strconv.Itoa(len(t.Result)+1), FromName: name, ToName: "item", Type: kind, Value: v, Meta: meta})
	}
	text := func(s string) resultValue {
		list, _ := json.Marshal([]string{s}) // texts
		return resultValue{Text: list}
	}
	if a.Label != "" {
		add("label", "choices", isLabel, resultValue{Choices: []string{a.Label}})
	}
	if a.Rating != nil {
		// Stars are whole and positive; another rating is a number.
		if n := *a.Rating; n >= 1 && n == math.Trunc(n) {
			add("rating", "rating", isRating, resultValue{Rating: a.Rating})
		} else {
			add("rating", "number", isRating, resultValue{Number: a.Rating})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
		v := a.Labels[name]
		var one string
		var several []string
		var number float64
		switch {
		case json.Unmarshal(v, &one) == nil && len(one) <= longChoice && !strings.Contains(one, "\n"):
			add(name, "choices", isChoice, resultValue{Choices: []string{one}})
		case v.Kind() == '"':
			add(name, "textarea", isText, text(one))
		case json.Unmarshal(v, &several) == nil && len(several) > 0:
			add(name, "choices", isChoices, resultValue{Choices: several})
		case json.Unmarshal(v, &number) == nil && figure(&number) == string(v):
			add(name, "number", isNumber, resultValue{Number: &number})
		default:
			add(name, "textarea", isJSON, text(string(v)))
		}
	}
	if a.Feedback != "" {
		add("feedback", "textarea", isFeedback, text(a.Feedback))
	}
	if a.CorrectedOutput != nil {
		add("corrected_output", "textarea", isCorrection, text(string(a.CorrectedOutput)))
	}
	if a.Confidence != nil {
		add("confidence", "number", isConfidence, resultValue{Number: a.Confidence})
	}
	if a.Skipped != "" {
		add("skipped", "textarea", isReason, text(a.Skipped))
	}
	if a.Source != "" {
		add("source", "textarea", isSource, text(a.Source))
	}
	return t
}
