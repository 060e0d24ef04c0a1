package itemfile_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/itemfile"
)

// read returns the items of a file and what is wrong with its lines.
func read(t testing.TB, text string, f itemfile.Format, mapping ...string) (items []string, wrong map[int]string) {
	t.Helper()
	m, err := itemfile.ParseMapping(mapping)
	require.NoError(t, err)
	r, err := itemfile.NewReader(strings.NewReader(text), f, m)
	require.NoError(t, err)
	wrong = map[int]string{}
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return items, wrong
		}
		require.NoError(t, err)
		if line.Err != nil {
			wrong[line.Number] = line.Err.Error()
			continue
		}
		require.True(t, line.Item.IsValid(), string(line.Item))
		items = append(items, string(line.Item))
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		text    string
		mapping []string
		items   []string
		wrong   map[int]string
	}{
		"fields are known by their names": {
			text:  "input,expected_output,Split,weight\nHow?,So.,test,2\nWhy?,,,\n",
			items: []string{`{"input":"How?","expectedOutput":"So.","split":"test","weight":2}`, `{"input":"Why?"}`},
		},
		"and by what they are commonly called": {
			text:  "question,Ground Truth\nHow?,So.\n",
			items: []string{`{"input":"How?","expectedOutput":"So."}`},
		},
		"columns are mapped, put together and left out": {
			text: "q,lang,topic,owner\nHow?,en,returns,ann\n", mapping: []string{"q=input.question", "lang=input.language", "topic=labels.topic", "owner="},
			items: []string{`{"input":{"language":"en","question":"How?"},"labels":{"topic":"returns"}}`},
		},
		"JSON is JSON, and what only looks like it is text": {
			text:  "input,messages,labels\n\"{\"\"a\"\":1}\",\"[{\"\"role\"\":\"\"user\"\"}]\",[draft]\n",
			items: []string{`{"input":{"a":1},"labels":"[draft]","messages":[{"role":"user"}]}`},
		},
		"a mark of spreadsheets, quotes and lines within a cell": {
			text:  "\xef\xbb\xbfinput\n\"two\nlines, \"\"quoted\"\"\"\n",
			items: []string{`{"input":"two\nlines, \"quoted\""}`},
		},
		"a line that is wrong does not hide the others": {
			text:  "input,weight,split\na,1,test\nb,NaN,test\nc,1\n,1,dev\nd,1,later\ne,1,dev\nK\xfcche,1,dev\n",
			items: []string{`{"input":"a","split":"test","weight":1}`, `{"input":"e","split":"dev","weight":1}`},
			wrong: map[int]string{
				3: `column "weight" must be a number from 0 to 1000000, and is "NaN"`, 4: "has 2 fields, and the header has 3", 5: "has no input",
				6: `column "split" must be train, dev or test, and is "later"`, 8: `column "input" is not UTF-8: save the file as UTF-8`,
			},
		},
		"a column without a name is left out": {
			text: ",input\n0,a\n", mapping: []string{"="}, items: []string{`{"input":"a"}`},
		},
		"a source": {
			text:  "input,source_type,source_id\na,ticket,7\nb,,7\n",
			items: []string{`{"input":"a","source":{"type":"ticket","id":"7"}}`},
			wrong: map[int]string{3: "has a sourceId without a sourceType"},
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			items, wrong := read(t, c.text, itemfile.CSV, c.mapping...)
			require.Equal(t, c.items, items)
			if c.wrong == nil {
				c.wrong = map[int]string{}
			}
			require.Equal(t, c.wrong, wrong)
		})
	}
}

func TestAFileThatCannotBeMapped(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		mapping []string
		want    string
	}{
		"":               {nil, "the file is empty"},
		"input,topic\n":  {nil, `the column "topic" is not a field of an item: map it with --map topic=labels.topic, or leave it out with --map topic=`},
		"input,answer\n": {nil, `map it with --map answer=expectedOutput, or leave it out with --map answer=`},
		"topic\n":        {[]string{"topic=labels"}, "no column becomes the input"},
		"q,question\n":   {[]string{"q=input"}, `the columns "q" and "question" both become input`},
		"input,lang\n":   {[]string{"lang=input.language"}, `the column "input" becomes the whole of input`},
		"lang,input\n":   {[]string{"lang=input.language"}, `the column "input" becomes the whole of input`},
		"input,topics\n": {[]string{"topic=labels", "topics="}, `the file has no column "topic": did you mean topics?`},
	} {
		m, err := itemfile.ParseMapping(c.mapping)
		require.NoError(t, err)
		_, err = itemfile.NewReader(strings.NewReader(text), itemfile.CSV, m)
		require.ErrorContains(t, err, c.want, text)
	}
	for text, want := range map[string]string{
		"question":        "write COLUMN=FIELD",
		"question=inptu":  "did you mean input?",
		"question=charm":  "an item has no field",
		"a=weight.b":      "weight has no parts",
		"question=input.": "an item has no field",
	} {
		_, err := itemfile.ParseMapping([]string{text})
		require.ErrorContains(t, err, want, text)
	}
	_, err := itemfile.ParseMapping([]string{"a=input", "a=output"})
	require.ErrorContains(t, err, "mapped twice")
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	items, wrong := read(t, `{"input":{"q":1e400},"expected_output":null,"labels":{"topic":"x"}}

[1]
{"input":"a","topic":"x"}
{"question":"b","split":"test"}
{`, itemfile.JSONL)
	require.Equal(t, []string{`{"input":{"q":1e400},"labels":{"topic":"x"}}`, `{"input":"b","split":"test"}`}, items)
	require.Len(t, wrong, 3)
	require.Equal(t, "is not a JSON object", wrong[3])
	require.Contains(t, wrong[4], `has the member "topic", which is not a field of an item`)
	require.Contains(t, wrong[6], "is not a JSON object")

	_, wrong = read(t, `{"input":"a","question":"b"}`, itemfile.JSONL)
	require.Contains(t, wrong[1], `has the members "input" and "question", which both become input`)

	items, _ = read(t, `{"q":"a","topic":"x"}`, itemfile.JSONL, "q=input", "topic=labels.topic")
	require.Equal(t, []string{`{"input":"a","labels":{"topic":"x"}}`}, items)
}

// What is written is read as the same items.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	all := []itemfile.Item{
		{Input: jsontext.Value(`"How, \"so\"?\nYes"`), ExpectedOutput: jsontext.Value(`"a\r\nb"`), Weight: 1},
		{Input: jsontext.Value(`"{\"a\":1}"`), ExpectedOutput: jsontext.Value(`"\"quoted\""`), Output: jsontext.Value(`""`), Weight: 1},
		{Input: jsontext.Value(`{"a":[1,2]}`), Labels: jsontext.Value(`{"topic":"x"}`), Assertions: []jsontext.Value{jsontext.Value(`{"type":"contains"}`)}, Split: "dev", Weight: 2.5, SourceType: "trace", SourceID: "7"},
		{Input: jsontext.Value(`"x"`), Messages: jsontext.Value(`[{"role":"user","content":"x"}]`), Tools: jsontext.Value(`[]`), Context: jsontext.Value(`"c"`), Weight: 0},
	}
	for _, f := range []itemfile.Format{itemfile.CSV, itemfile.JSONL} {
		var b strings.Builder
		w, err := itemfile.NewWriter(&b, f)
		require.NoError(t, err)
		for _, i := range all {
			require.NoError(t, w.Write(i))
		}
		require.NoError(t, w.Close())
		items, wrong := read(t, b.String(), f)
		require.Empty(t, wrong)
		require.Len(t, items, len(all))
		require.Contains(t, items[0], `"input":"How, \"so\"?\nYes","expectedOutput":"a\r\nb"`)
		require.Contains(t, items[1], `"input":"{\"a\":1}","expectedOutput":"\"quoted\"","output":""`)
		require.Contains(t, items[2], `"source":{"type":"trace","id":"7"}`)
		require.Contains(t, items[2], `"weight":2.5`)
		require.Contains(t, items[3], `"weight":0`)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("input,weight\na,1\n\"b\n", true)
	f.Add(`{"input":"a","labels":{"b":[1]}}`, false)
	f.Add("input.a,input\n{},[\n", true)
	f.Fuzz(func(t *testing.T, text string, csv bool) {
		format := itemfile.JSONL
		if csv {
			format = itemfile.CSV
		}
		r, err := itemfile.NewReader(strings.NewReader(text), format, itemfile.Mapping{})
		if err != nil {
			return
		}
		for {
			line, err := r.Next()
			if err != nil {
				return
			}
			if line.Err == nil && !line.Item.IsValid() {
				t.Fatalf("line %d becomes %q, which is not JSON", line.Number, line.Item)
			}
		}
	})
}
