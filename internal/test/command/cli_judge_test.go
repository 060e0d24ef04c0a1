package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const wireJudge = `{"id":"3","key":"quality","name":"Quality","status":"active","config_version":2,"scale":{"type":"binary"},"provider":"simulated","model":"judge","label_sampling":"unknown"}`

// judges are the routes of a judge; more are added or replaced.
func judges(more map[string][]string) map[string][]string {
	all := map[string][]string{
		"GET /api/llm-judge/configs":   {`{"configs":[` + wireJudge + `],"has_more":false}`},
		"GET /api/llm-judge/configs/3": {wireJudge},
	}
	for route, answers := range more {
		all[route] = answers
	}
	return all
}

// verdict is a result on the wire; rest holds more fields.
func verdict(status, rest string) []string {
	return []string{fmt.Sprintf(`{"id":"12","config_key":"quality","config_version":2,"status":%q,"opinions":3,"latency_ms":1200,"cost_usd":0.0021,
		"model":"judge","usage":{"input_tokens":812,"output_tokens":40}%s}`, status, rest)}
}

// alignment is a judge that is compared with people.
func alignment(outcome string, n int, more string) string {
	ruling := `{"on":"tpr","threshold":0.9,"outcome":"insufficient_data"},{"on":"tnr","threshold":0.9,"outcome":"` + outcome + `"},{"on":"kappa","threshold":0.6,"outcome":"aligned"}`
	mean := `{"estimator":"ppi","headline":` + estimate(0.81, 0.72, 0.88, 60) + `,"judge":` + estimate(0.7, 0.7, 0.7, 200) + `,"human":` + estimate(0.8, 0.7, 0.9, 60) + `,"labels":60,"purposive":0}`
	return fmt.Sprintf(`{"config_id":"3","config_key":"quality","config_version":2,"n":%d,"judged":200,"divided":2,"coverage":0.95,"abstention_rate":0.05,"tpr":0.9,"tnr":0.8,"cohen_kappa":0.7,
		"verdict":%q,"more_labels":%s,"rulings":[%s],"disagreements":[{"result_id":"77","test_case_id":"17","judge":"pass","human":"fail","reasoning":"Helpful."}],
		"statistics":{"passes":{"labels":["fail","pass"],"confusion":[[10,2],[5,43]],"rates":{"tpr":%s,"tnr":%s},"kappa":{"nominal":%s},"ac1":%s,"krippendorff_alpha":%s,"skewed":true},
		"human_ceiling":{"raters":3,"shared":40,"fleiss_kappa":%s},"replacement":{"winning_rate":0.667,"may_replace":true,"status":"ok"},
		"corrected":%s,"corrected_pass_rate":%s,"route":{"threshold":0.8,"risk":0.1,"confidence":0.9,"accepted":45,"n":60}}}`,
		n, outcome, more, ruling, estimate(0.9, 0.78, 0.96, 48), estimate(0.83, 0.55, 0.95, 12), estimate(0.7, 0.62, 0.84, 60), estimate(0.8, 0.7, 0.9, 60), estimate(0.7, 0.5, 0.8, 60),
		estimate(0.75, 0.6, 0.85, 40), mean, mean)
}

func TestJudgeTry(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "context.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"pages": [1, 2]}`), 0o600))
	broken := filepath.Join(folder, "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{`), 0o600))
	for name, c := range map[string]struct {
		result []string
		flags  []string
		code   int
		want   []string
		asked  string
	}{
		"a verdict": {
			verdict("completed", `,"score":1,"label":"pass","passed":true,"agreement":0.6666666,"confidence":0.9,"reasoning":"It answers.","criteria_scores":[{"key":"clear","label":"pass","score":1}]`), nil, 0,
			[]string{"✓ pass  quality · version 2 · result 12\n", "clear      pass    1.000", "agreement   2 of 3 opinions\n", "cost        $0.0021\n", "reasoning   It answers.\n"},
			`"configId":"3"`,
		},
		"a bad answer is a verdict": {verdict("completed", `,"score":0,"raw_score":1,"label":"1","passed":false`), nil, 0, []string{"✗ fail (1)", "score   0.000 (1 on the judge's scale)\n"}, ""},
		"an abstention":             {verdict("abstained", `,"agreement":0,"error":{"code":"tie","message":"The judge's opinions are divided."}`), nil, 1, []string{"? abstained", "tie: The judge's opinions are divided.\n"}, ""},
		"a failure":                 {verdict("failed", `,"error":{"code":"answer_not_json","message":"The answer is not JSON."}`), nil, 1, []string{"✗ failed", "answer_not_json: The answer is not JSON.\n"}, ""},
		"JSON":                      {verdict("failed", `,"error":null`), []string{"--json"}, 1, []string{`"status": "failed"`}, ""},
		"a file":                    {verdict("completed", `,"score":1,"passed":true`), []string{"--context=@" + file}, 0, nil, `"context":{"pages":[1,2]}`},
		"a broken file":             {nil, []string{"--context=@" + broken}, 2, nil, ""},
		"a missing file":            {nil, []string{"--expected=@" + folder + "/missing"}, 2, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &evaluations{}
			got := run(s.serve(t, judges(map[string][]string{"POST /api/llm-judge/evaluate": c.result})), append([]string{"judge", "try", "judge:quality", "--input=How?", "--output=So."}, c.flags...)...)
			require.Equal(t, c.code, got.Code, got.Out+got.Err)
			for _, want := range c.want {
				require.Contains(t, got.Out, want)
			}
			if c.asked != "" {
				require.Contains(t, s.asked[len(s.asked)-1], c.asked)
			}
		})
	}
}

func TestJudgeAlign(t *testing.T) {
	t.Parallel()
	list := func(all string) map[string][]string {
		return judges(map[string][]string{"GET /api/llm-judge/alignment": {`{"alignments":[` + all + `]}`}})
	}
	s := &evaluations{}
	got := run(s.serve(t, list(alignment("insufficient_data", 60, "85"))), "judge", "align", "quality", "--run=41", "--min-tnr=85%")
	require.Equal(t, 0, got.Code, got.Err)
	for _, want := range []string{
		"? insufficient data  quality · version 2 · 60 labelled of 200 judged\n", "About 85 more would probably settle it.", "JUDGE: pass", "tnr        83.0%  [55.0%, 95.0%]",
		"kappa      0.700  [0.620, 0.840]", "people     0.750", "3 people labelled 40 answers together", "the judge may take a person's place: it does better than 66.7%",
		"81.0% [72.0%, 88.0%] as people would give it, by 60 labels; the judge says 70.0%", "confidence 0.80 or more need no person (45 of 60 here)", "item 17       fail    pass   Helpful.",
		"one label is rare", "assay judge next-labels quality\n",
	} {
		require.Contains(t, got.Out, want)
	}
	asked := s.asked[len(s.asked)-1]
	for _, want := range []string{"configId=3", "evaluationRunId=41", "minTnr=0.85", "minTpr=0.9"} {
		require.Contains(t, asked, want)
	}

	got = run((&evaluations{}).serve(t, list(alignment("misaligned", 60, "null"))), "judge", "align", "3")
	require.Equal(t, 0, got.Code, got.Err)
	require.Contains(t, got.Out, "the whole interval of tnr lies below its threshold")
	got = run((&evaluations{}).serve(t, list(alignment("insufficient_data", 0, "30"))), "judge", "align", "quality")
	require.Contains(t, got.Out, "people have labelled none of the answers")
	require.NotContains(t, got.Out, "PEOPLE SAY")
	got = run((&evaluations{}).serve(t, list(alignment("aligned", 60, "null"))), "judge", "align")
	require.Regexp(t, `quality +2  aligned +60  90\.0%  80\.0%  0\.700 +–`, got.Out)
	got = run((&evaluations{}).serve(t, list(alignment("aligned", 60, "null"))), "judge", "align", "quality", "--json")
	require.Contains(t, got.Out, `"verdict": "aligned"`)
	page := judges(map[string][]string{"GET /api/llm-judge/configs/3/alignment/report": {"<!doctype html>"}})
	file := filepath.Join(t.TempDir(), "alignment.html")
	got = run((&evaluations{}).serve(t, page), "judge", "align", "quality", "--html="+file)
	require.Equal(t, file+"\n", got.Out, got.Err)
	saved, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "<!doctype html>", string(saved))
	require.Equal(t, "<!doctype html>", run((&evaluations{}).serve(t, page), "judge", "align", "quality", "--html=-").Out)
	require.Equal(t, 2, run((&evaluations{}).serve(t, page), "judge", "align", "quality", "--html="+file+"/missing").Code)
	require.Equal(t, 2, run(nil, "judge", "align", "--html=-").Code)
	got = run((&evaluations{}).serve(t, list("")), "judge", "align", "charm")
	require.Equal(t, 2, got.Code)
	require.Contains(t, got.Err, `judge "charm" not found`)
	require.Equal(t, 2, run(nil, "judge", "align", "--config-version=2").Code)
	require.Equal(t, 2, run(nil, "judge", "align", "--min-kappa=60").Code)
}

func TestJudgeListsAndNextLabels(t *testing.T) {
	t.Parallel()
	got := run((&evaluations{}).serve(t, judges(nil)), "judge", "list")
	require.Equal(t, 0, got.Code, got.Err)
	require.Regexp(t, `quality +3 +2  active  binary  simulated:judge  Quality`, got.Out)
	got = run((&evaluations{}).serve(t, judges(map[string][]string{"GET /api/llm-judge/configs": {`{"configs":[],"has_more":false}`}})), "judge", "list")
	require.Contains(t, got.Out, "There are no judges.")

	next := map[string][]string{
		"GET /api/llm-judge/results":               {`{"results":[{"id":"9","evaluation_run_id":null},{"id":"8","evaluation_run_id":"41"}]}`},
		"GET /api/llm-judge/configs/3/next-labels": {`{"label_key":"quality","labels":["fail","pass"],"labelled":20,"left":180,"next":[{"result_id":"77","test_case_id":"17","dataset_id":"5","epoch":0}]}`},
	}
	s := &evaluations{}
	got = run(s.serve(t, judges(next)), "judge", "next-labels", "quality")
	require.Equal(t, 0, got.Code, got.Err)
	require.Contains(t, got.Out, "  17        5           1      77\n")
	require.Contains(t, got.Out, "Run 41: 20 labelled, 180 left. Label them in this order; the label is quality: fail, pass.")
	require.Contains(t, got.Out, "labels correct its mean only if it is random")
	require.Contains(t, s.asked[len(s.asked)-1], "evaluationRunId=41")

	next["GET /api/llm-judge/results"] = []string{`{"results":[]}`}
	got = run((&evaluations{}).serve(t, judges(next)), "judge", "next-labels", "quality")
	require.Equal(t, 2, got.Code)
	require.Contains(t, got.Err, "quality has rated no run")
	require.Equal(t, 2, run(nil, "judge", "next-labels", "quality", "--size=0").Code)
}
