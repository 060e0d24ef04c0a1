package labelfile_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/review/labelfile"
)

func ptr[T any](v T) *T { return &v }

// sample has every kind of value, and what formats have trouble with.
var sample = []labelfile.Record{
	{ID: 1, Status: "annotated", Content: jsontext.Value(`{"input":"Why?","output":"=1+1"}`), Answers: []labelfile.Answer{
		{Annotator: "Ada", Source: "annotation", Label: "billing", DurationMS: ptr(int64(8200)), CreatedAt: time.Date(2026, 11, 17, 9, 30, 0, 1e6, time.UTC)},
		{Annotator: "ben@example.com", Source: "import", Rating: ptr(4.0), Feedback: "=cmd|' /C calc'!A0\r\nsecond", Confidence: ptr(0.5)},
		{Annotator: "Cem", Skipped: "-not mine"},
	}},
	{ID: 2, Content: jsontext.Value(`"=HYPERLINK(\"x\")"`)},
	{Content: jsontext.Value(`"12"`), Suggestion: jsontext.Value(`{"label":"x"}`), Answers: []labelfile.Answer{
		{Labels: map[string]jsontext.Value{"a": jsontext.Value(`"x"`), "b": jsontext.Value(`["x","y"]`), "c": jsontext.Value(`-2.5`), "d": jsontext.Value(`true`), "e": jsontext.Value(`"two\nlines"`)}},
		{Rating: ptr(-0.5), CorrectedOutput: jsontext.Value(`{"a":[1]}`)},
	}},
	{Content: jsontext.Value(`[1,2]`), Answers: []labelfile.Answer{{Feedback: `"quoted"`, CorrectedOutput: jsontext.Value(`"text"`)}}},
}

func write(t testing.TB, f labelfile.Format, all []labelfile.Record) string {
	t.Helper()
	var out strings.Builder
	w, err := labelfile.NewWriter(&out, f)
	require.NoError(t, err)
	for _, r := range all {
		require.NoError(t, w.Write(r))
	}
	require.NoError(t, w.Close())
	return out.String()
}

// read returns the records of a file and what is wrong with the others.
func read(f labelfile.Format, text string) (all []labelfile.Record, wrong []string, err error) {
	r, err := labelfile.NewReader(strings.NewReader(text), f)
	if err != nil {
		return nil, nil, err
	}
	for {
		line, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return all, wrong, nil
		case err != nil:
			return all, wrong, err
		case line.Err != nil:
			wrong = append(wrong, line.Err.Error())
		default:
			all = append(all, line.Record)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, f := range []labelfile.Format{labelfile.JSONL, labelfile.CSV, labelfile.LabelStudio} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			text := write(t, f, sample)
			got, wrong, err := read(f, text)
			require.NoError(t, err)
			require.Empty(t, wrong)
			require.Equal(t, sample, got)
			got, wrong, err = read(f, write(t, f, nil))
			require.NoError(t, err)
			require.Empty(t, wrong)
			require.Empty(t, got)
		})
	}
}

func TestNoCellIsAFormula(t *testing.T) {
	t.Parallel()
	for _, cell := range []string{",=", ",+", ",-", ",@", ",\"=", ",\"+", ",\"-", ",\"@", "\n=", "\n-", "\n+", "\n@"} {
		require.NotContains(t, write(t, labelfile.CSV, sample), cell)
	}
}

// TestLabelStudioFiles reads what Label Studio writes.
func TestLabelStudioFiles(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		in, wrong string
		want      labelfile.Record
	}{
		"a choice, by a user with a number": {
			in: `{"id": 7, "project": 83, "data": {"text": "Hello"}, "total_annotations": 1, "annotations": [{"id": 1001, "completed_by": 10, "lead_time": 4.288, "was_cancelled": false, "ground_truth": false, "created_at": "2021-03-09T22:16:08.728353Z",
				"result": [{"id": "x", "from_name": "sentiment", "to_name": "text", "type": "choices", "origin": "manual", "value": {"choices": ["Positive"]}}]}], "predictions": [{"model_version": "one", "result": []}]}`,
			want: labelfile.Record{ID: 7, Content: jsontext.Value(`{"text":"Hello"}`), Answers: []labelfile.Answer{
				{Annotator: "user 10", Label: "Positive", DurationMS: ptr(int64(4288)), CreatedAt: time.Date(2021, 3, 9, 22, 16, 8, 728e6, time.UTC)},
			}},
		},
		"several controls": {
			in: `{"data": {"q": 1}, "annotations": [{"completed_by": {"id": 3, "email": "a@b.c", "first_name": "A"}, "result": [
				{"from_name": "topic", "type": "choices", "value": {"choices": ["a"]}}, {"from_name": "flags", "type": "choices", "value": {"choices": ["x", "y"]}},
				{"from_name": "stars", "type": "rating", "value": {"rating": 4}}, {"from_name": "pages", "type": "number", "value": {"number": 6}},
				{"from_name": "why", "type": "textarea", "value": {"text": ["one", "two"]}}]}]}`,
			want: labelfile.Record{Content: jsontext.Value(`{"q":1}`), Answers: []labelfile.Answer{{
				Annotator: "a@b.c", Rating: ptr(4.0), Feedback: "one\ntwo",
				Labels: map[string]jsontext.Value{"topic": jsontext.Value(`"a"`), "flags": jsontext.Value(`["x","y"]`), "pages": jsontext.Value(`6`)},
			}}},
		},
		"a task that was skipped": {
			in:   `{"data": {"q": 1}, "annotations": [{"completed_by": {"id": 3}, "was_cancelled": true, "result": [{"from_name": "topic", "type": "choices", "value": {"choices": ["a"]}}]}]}`,
			want: labelfile.Record{Content: jsontext.Value(`{"q":1}`), Answers: []labelfile.Answer{{Annotator: "user 3", Skipped: "skipped in Label Studio"}}},
		},
		"a region":  {in: `{"data": {"q": 1}, "annotations": [{"result": [{"from_name": "tag", "type": "rectanglelabels", "value": {"x": 1}}]}]}`, wrong: "only choices, rating, number and textarea"},
		"no data":   {in: `{"image": "x"}`, wrong: "has no data"},
		"no answer": {in: `{"data": {}, "annotations": [{"result": []}]}`, wrong: "says nothing"},
		"no task":   {in: `1`, wrong: "is not a task"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			got, wrong, err := read(labelfile.LabelStudio, "["+c.in+"]")
			require.NoError(t, err)
			if c.wrong != "" {
				require.Len(t, wrong, 1)
				require.Contains(t, wrong[0], c.wrong)
				return
			}
			require.Empty(t, wrong)
			require.Equal(t, []labelfile.Record{c.want}, got)
		})
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	for in, c := range map[string]struct {
		f    labelfile.Format
		want string
	}{
		"{\"content\": 1, \"x\": 2}\n": {labelfile.JSONL, "unknown object member name \"x\""},
		"[]\n":                         {labelfile.JSONL, "is not a JSON object"},
		"{}\n":                         {labelfile.JSONL, "has no content"},
		`{"content": 1, "annotations": [{"label": "x", "confidence": 2}]}`: {labelfile.JSONL, "answer 1 has a confidence that is not from 0 to 1"},
		`{"content": 1, "annotations": [{"label": "x", "skipped": "y"}]}`:  {labelfile.JSONL, "is skipped and answered"},
		"content,rating\nx,y\n":  {labelfile.CSV, `column "rating" is not a number: "y"`},
		"content,label\nx\n":     {labelfile.CSV, "has 1 fields, and the header has 2"},
		"contents\nx\n":          {labelfile.CSV, `the column "contents" is not known`},
		"label\nx\n":             {labelfile.CSV, "no column content"},
		"content,content\nx,y\n": {labelfile.CSV, "two columns"},
		"":                       {labelfile.CSV, "the file is empty"},
		"{}":                     {labelfile.LabelStudio, "not a list of tasks"},
		"[{\"data\": {}}, x":     {labelfile.LabelStudio, "entry 2 is not JSON"},
	} {
		_, wrong, err := read(c.f, in)
		require.Contains(t, strings.Join(wrong, " ")+errText(err), c.want, in)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// again checks that what was read is written and read as the same.
func again(t *testing.T, f labelfile.Format, text string) {
	t.Helper()
	all, _, _ := read(f, text) // what cannot be read is refused, and nothing more
	once := write(t, f, all)
	same, wrong, err := read(f, once)
	require.NoError(t, err)
	require.Empty(t, wrong)
	require.Equal(t, once, write(t, f, same))
}

func FuzzJSONL(f *testing.F) {
	f.Add(write(f, labelfile.JSONL, sample))
	f.Fuzz(func(t *testing.T, text string) { again(t, labelfile.JSONL, text) })
}

func FuzzCSV(f *testing.F) {
	f.Add(write(f, labelfile.CSV, sample))
	f.Add("content\nx\n")
	f.Fuzz(func(t *testing.T, text string) { again(t, labelfile.CSV, text) })
}

func FuzzLabelStudio(f *testing.F) {
	f.Add(write(f, labelfile.LabelStudio, sample))
	f.Fuzz(func(t *testing.T, text string) { again(t, labelfile.LabelStudio, text) })
}
