package command_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compared is one figure of a comparison on the wire.
func compared(name string, delta, low, high float64, nonInferiority, equivalence string) string {
	superiority, verdict := "unresolved", "inconclusive"
	switch {
	case low > 0:
		superiority, verdict = "better", "improved"
	case high < 0:
		superiority, verdict = "worse", "regressed"
	}
	margin := 0.02
	if nonInferiority == "" {
		margin = 0
	}
	return fmt.Sprintf(`{"name":%q,"better":"higher","baseline":0.8,"candidate":%g,"delta":%g,"ci_low":%g,"ci_high":%g,"verdict":%q,"statistics":{
		"difference":%s,"candidate":{"status":"ok"},"n_matched":100,"comparable":true,"incomparable_reasons":[],
		"verdict":{"superiority":%q,"non_inferiority":%q,"equivalence":%q,"margin":%g},
		"resolution":{"mde80":0.05,"sentence":"This comparison can resolve differences of 5 points or more."}}}`,
		name, 0.8+delta, delta, low, high, verdict, estimate(delta, low, high, 100), superiority, nonInferiority, equivalence, margin)
}

func comparison(same bool, figures ...string) string {
	reasons := "[]"
	if !same {
		reasons = `["the pass rules differ"]`
	}
	return fmt.Sprintf(`{"evaluation_id":"7","baseline_run_id":"41","candidate_run_id":"42","confidence":0.95,"margin":0.02,"comparable":%t,"incomparable_reasons":%s,
		"pass_rate":%s,"overall":%s,"metrics":[%s],"items":{"improved":5,"regressed":1,"unchanged":94,"only_baseline":0,"only_candidate":0},
		"regressions":[{"test_case_id":"17","delta":-1,"by":"overall","baseline":{"overall":1,"pass_rate":1,"scores":{"exact_match":1,"latency_ms":5}},"candidate":{"overall":0,"pass_rate":0,"scores":{"exact_match":0,"latency_ms":5}}}]}`,
		same, reasons, figures[0], figures[1], strings.Join(figures[2:], ","))
}

// failingItems are results on the wire that did not pass; what they say is evil.
func failingItems() string {
	said, _ := json.Marshal(evil)
	one := func(id, status, rest string) string {
		return fmt.Sprintf(`{"test_case_id":%q,"status":%q,"epoch":0,"input":%s,"expected_output":"yes"%s}`, id, status, said, rest)
	}
	return `{"results":[` + one("17", "failed", `,"output":"no","overall":0.5,"scores":{"exact_match":0}`) + `,` +
		one("18", "errored", `,"output":null,"overall":null,"scores":{"exact_match":null},"error":{"code":"timeout","message":`+string(said)+`}`) + `],"has_more":false,"total":2}`
}

// gated are the routes of a run that can be judged.
func gated() map[string][]string {
	return map[string][]string{
		"GET " + run42 + "/results": {failingItems()},
		"GET " + runs:               {`{"runs":[` + wireRun("42", "completed", statistics()) + `,` + wireRun("41", "completed", "") + `]}`},
		"GET " + run42:              {wireRun("42", "completed", statistics())},
		"GET " + runs + "/41":       {wireRun("41", "completed", statistics())},
		"GET " + runs + "/compare":  {comparison(true, compared("pass_rate", 0.03, 0.01, 0.05, "shown", "not_shown"), compared("overall", 0, -0.03, 0.03, "unresolved", "not_shown"), compared("exact_match", -0.1, -0.15, -0.05, "refuted", "not_shown"), compared("similarity", 0.001, -0.01, 0.012, "shown", "shown"), compared("latency_ms", 3, -20, 26, "", ""))},
	}
}

func TestGateCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		require []string
		flags   []string
		code    int
		want    []string
	}{
		"the whole interval above the bar passes": {
			[]string{"pass_rate>=0.83"},
			nil, 0,
			[]string{"✓ PASS          pass_rate>=0.83\n                90.0% [83.0%, 94.5%] from 100 items: the whole interval meets it\n", "✓ PASS: 1 requirement met.\n"},
		},
		"the mean above the bar is not enough":   {[]string{"pass_rate>=0.85"}, nil, 3, []string{"? INCONCLUSIVE: 1 of 1 requirement inconclusive.", "With 100 items, four of five runs decide it if the true value"}},
		"the whole interval below the bar fails": {[]string{"exact_match >= 80%"}, nil, 1, []string{"✗ FAIL          exact_match >= 80%\n", "the whole interval misses it"}},
		"above is not at":                        {[]string{"pass_rate>0.83"}, nil, 3, nil},
		"below the bar where less is better":     {[]string{"latency_ms<=534", "latency_ms<600"}, nil, 0, nil},
		"above the bar where less is better":     {[]string{"latency_ms<=480"}, nil, 1, nil},
		"the bar in the interval of less":        {[]string{"latency_ms<534"}, nil, 3, nil},
		"a failure is a failure, also if more is open": {
			[]string{"pass_rate>=0.83", "exact_match>=0.8", "overall>=0.9"}, nil, 1, []string{"✗ FAIL: 1 of 3 requirements failed, 1 of 3 requirements inconclusive."},
		},
		"a metric of an older server never passes": {[]string{"faithfulness<=1"}, nil, 3, []string{"the run has no metric faithfulness"}},
		"better":                          {[]string{"pass_rate:better"}, []string{"--baseline=41"}, 0, []string{"run 42 against run 41", "difference +0.030 [0.010, 0.050] over 100 items: it is better"}},
		"worse":                           {[]string{"exact_match:better"}, []string{"--baseline=previous"}, 1, []string{"it is worse"}},
		"non-inferior":                    {[]string{"pass_rate:non_inferior"}, []string{"--baseline=41", "--margin=0.02"}, 0, []string{"a loss of 0.02 or more is ruled out"}},
		"inferior":                        {[]string{"exact_match:non_inferior"}, []string{"--baseline=41", "--margin=0.02"}, 1, []string{"a loss of more than 0.02 is shown"}},
		"unresolved never passes":         {[]string{"overall:non_inferior"}, []string{"--baseline=41", "--margin=0.02"}, 3, []string{"This comparison can resolve differences of 5 points or more."}},
		"equivalent":                      {[]string{"similarity:equivalent"}, []string{"--baseline=41", "--margin=0.02"}, 0, nil},
		"different":                       {[]string{"exact_match:equivalent"}, []string{"--baseline=41", "--margin=0.02"}, 1, []string{"the difference is larger than the margin of 0.02"}},
		"perhaps different":               {[]string{"overall:equivalent"}, []string{"--baseline=41", "--margin=0.02"}, 3, nil},
		"a margin in percent":             {[]string{"pass_rate:non_inferior"}, []string{"--baseline=41", "--margin=2%"}, 0, nil},
		"a latency is described":          {[]string{"latency_ms:non_inferior"}, []string{"--baseline=41", "--margin=0.02"}, 3, []string{"depends on when and where a run took place", "Use a threshold, such as p95(latency_ms)<=800."}},
		"a run is no baseline of its own": {[]string{"overall:better"}, []string{"--baseline=42"}, 2, nil},
		"a baseline that is not there":    {[]string{"overall:better"}, []string{"--run=99"}, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"gate", "7"}, c.flags...)
			for _, r := range c.require {
				args = append(args, "--require", r)
			}
			got := run((&evaluations{}).serve(t, gated()), args...)
			require.Equal(t, c.code, got.Code, got.Out+got.Err)
			for _, want := range c.want {
				require.Contains(t, got.Out, want)
			}
		})
	}
}

func TestGateNeverPassesWhatIsNotShown(t *testing.T) {
	t.Parallel()
	one := func(estimate string) string {
		return `,"statistics":{"overall":` + estimate + `,"pass_rate":` + estimate + `,"metrics":{}}`
	}
	good := estimate(0.99, 0.98, 0.995, 1000)
	not := strings.ReplaceAll(comparison(false, compared("pass_rate", 0.03, 0.01, 0.05, "shown", "shown"), compared("overall", 0.03, 0.01, 0.05, "shown", "shown")), `"comparable":true`, `"comparable":false`)
	for name, c := range map[string]struct {
		run, compare string
		want         string
	}{
		"a run that failed":         {wireRun("42", "failed", one(good)+`,"error":{"code":"timeout","message":"Nothing came."}`), "", "run 42 is failed, not completed: Nothing came."},
		"a run that was cancelled":  {wireRun("42", "cancelled", one(good)), "", "run 42 is cancelled, not completed"},
		"no interval":               {wireRun("42", "completed", one(`{"value":1,"se":null,"ci":null,"n":1,"status":"insufficient","warnings":["one independent unit"]}`)), "", "insufficient, one independent unit"},
		"an estimate that is stale": {wireRun("42", "completed", one(strings.Replace(good, `"ok"`, `"stale"`, 1))), "", "stale"},
		"a status of the future":    {wireRun("42", "completed", one(strings.Replace(good, `"ok"`, `"unheard_of"`, 1))), "", "unheard_of"},
		"many missing scores":       {wireRun("42", "completed", one(strings.Replace(good, `"status"`, `"missing":{"rows":400,"share":0.4},"status"`, 1))), "", "400 scores (40%) are missing, more than --max-missing allows (5%)"},
		"runs that do not compare":  {wireRun("42", "completed", one(good)), not, "the runs are not comparable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			routes := map[string][]string{"GET " + runs: {`{"runs":[` + c.run + `]}`}, "GET " + runs + "/compare": {c.compare}}
			args := []string{"gate", "7", "--require", "overall>=0.5", "--baseline=41"}
			if c.compare != "" {
				args = []string{"gate", "7", "--require", "overall:non_inferior", "--margin=0.02", "--baseline=41"}
			}
			got := run((&evaluations{}).serve(t, routes), args...)
			require.Equal(t, 3, got.Code, got.Out+got.Err)
			require.Contains(t, strings.Join(strings.Fields(got.Out), " "), c.want)
			require.NotContains(t, got.Out, "PASS")
		})
	}
}

func TestGateCommandLine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		nil,
		{"--require="},
		{"--require=pass_rate"},
		{"--require=pass_rate=0.9"},
		{"--require=pass_rate>=x"},
		{"--require=pass_rate>=NaN"},
		{"--require=pass_rate>=90"},
		{"--require=overall:good"},
		{"--require=overall:non_inferior"},
		{"--require=a b>=1"},
		{"--require=x>=1>=2"},
		{"--require=overall>=0.5", "--run=previous"},
		{"--require=overall>=0.5", "--run=mine"},
		{"--require=overall>=0.5", "--baseline=latest"},
		{"--require=overall>=0.5", "--margin=2"},
		{"--require=overall>=0.5", "--margin=two"},
		{"--require=overall>=0.5", "--baseline=branch:"},
		{"--require=overall>=0.5", "--max-missing=2"},
		{"--require=overall>=0.5", "--sample=5"},
	} {
		got := run([]string{userKey}, append([]string{"gate", "7"}, args...)...)
		require.Equal(t, 2, got.Code, args)
		require.NotEmpty(t, got.Err)
	}
}

func TestGateStartsARun(t *testing.T) {
	t.Parallel()
	s := &evaluations{}
	routes := gated()
	routes["POST "+runs] = []string{wireRun("42", "running", "")}
	routes["GET "+run42+"/progress"] = []string{progress("completed", 100)}
	routes["GET "+run42] = []string{wireRun("42", "completed", strings.Replace(statistics(), `,"statistics"`, `,"baseline_run_id":"41","statistics"`, 1))}
	routes["GET "+run42][0] = strings.Replace(routes["GET "+run42][0], `"baseline_run_id":null,`, "", 1)
	got := run(s.serve(t, routes), "gate", "7", "--run=new", "--baseline=41", "--sample=100", "--require", "pass_rate:better", "--json")
	require.Zero(t, got.Code, got.Out+got.Err)
	require.Contains(t, s.asked, "POST "+runs+` {"baselineRunId":"41","sampleSize":100}`)
	require.Contains(t, got.Err, header)
	require.JSONEq(t, `{"verdict":"PASS","summary":"1 requirement met.","evaluation_id":"7","run_id":"42","baseline_run_id":"41",
		"requirements":[{"requirement":"pass_rate:better","verdict":"PASS","because":"difference +0.030 [0.010, 0.050] over 100 items: it is better","value":0.03,"lower":0.01,"upper":0.05,"level":0.95,"alpha":0.025,"n":100}]}`, got.Out)
}

// evil is a name that tries to end whatever it is written into.
const evil = "]]></testsuite>\"'&<x>\u0000\u001b[2J\ufffe\n::error title=owned::x\r\n##[error]y %0A::warning::,:"

func TestGateReportsInXML(t *testing.T) {
	t.Parallel()
	name, err := json.Marshal(evil)
	require.NoError(t, err)
	routes := gated()
	routes["GET /api/evaluations/7"] = []string{`{"id":"7","name":` + string(name) + `,"status":"completed"}`}
	file := filepath.Join(t.TempDir(), "gate.xml")
	args := []string{"gate", "7", "--require=pass_rate>=0.83", "--require=exact_match>=0.8", "--require=overall>=0.9", "--junit", file}

	got := run((&evaluations{}).serve(t, routes), args...)

	require.Equal(t, 1, got.Code, got.Err)
	suites := readJUnit(t, file)
	require.Equal(t, counts{5, 3, 1, 0}, suites.counts, "three requirements and two items")
	require.Equal(t, counts{3, 1, 1, 0}, suites.Suites[0].counts)
	require.Equal(t, counts{2, 2, 0, 0}, suites.Suites[1].counts)
	require.Equal(t, "item 17", suites.Suites[1].Cases[0].Name)
	require.Contains(t, suites.Suites[1].Cases[0].Failure.Message, "failed: overall 0.500, exact_match 0.000")
	require.Contains(t, suites.Suites[0].Name, "]]></testsuite>")
	require.Len(t, suites.Suites[0].Cases, 3)
	require.Nil(t, suites.Suites[0].Cases[0].Failure)
	require.Nil(t, suites.Suites[0].Cases[0].Error)
	require.Equal(t, "exact_match>=0.8", suites.Suites[0].Cases[1].Name)
	require.Equal(t, "missed", suites.Suites[0].Cases[1].Failure.Type)
	require.Contains(t, suites.Suites[0].Cases[1].Failure.Message, "the whole interval misses it")
	require.Equal(t, "inconclusive", suites.Suites[0].Cases[2].Error.Type)

	got = run([]string{userKey, "ASSAY_URL=http://127.0.0.1:1"}, args...)
	require.Equal(t, 3, got.Code)
	suites = readJUnit(t, file)
	require.Equal(t, counts{4, 0, 1, 3}, suites.counts)
	require.Contains(t, suites.Suites[0].Cases[0].Error.Message, "no response from http://127.0.0.1:1")
	require.NotNil(t, suites.Suites[0].Cases[1].Skipped)

	got = run((&evaluations{}).serve(t, gated()), "gate", "7", "--require=pass_rate>=0.1", "--junit", "/no/such/folder/gate.xml")
	require.Equal(t, 2, got.Code, "a report that is missing is no pass")
	require.Contains(t, got.Err, "the JUnit report cannot be written")
}

type counts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
}

type junit struct {
	XMLName xml.Name `xml:"testsuites"`
	counts
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	counts
	Name  string `xml:"name,attr"`
	Cases []struct {
		Name    string       `xml:"name,attr"`
		Failure *junitResult `xml:"failure"`
		Error   *junitResult `xml:"error"`
		Skipped *junitResult `xml:"skipped"`
	} `xml:"testcase"`
}

func readJUnit(t *testing.T, file string) (out junit) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), xml.Header))
	require.NoError(t, xml.Unmarshal(text, &out))
	return out
}

func TestGateAnnotatesOnGitHub(t *testing.T) {
	t.Parallel()

	t.Run("what failed and what is open", func(t *testing.T) {
		t.Parallel()
		got := run((&evaluations{}).serve(t, gated()), "gate", "7", "--require=pass_rate>=0.83", "--require=exact_match>=80%", "--require=overall>=0.9", "--github")
		require.Equal(t, 1, got.Code)
		commands := commandsIn(got.Out)
		require.Len(t, commands, 4)
		require.True(t, strings.HasPrefix(commands[2], "::notice title=Assay%3A item 17 failed::overall 0.500, exact_match 0.000%0Ainput: ]]></testsuite>"), commands[2])
		require.True(t, strings.HasSuffix(commands[2], "%0Aoutput: no%0Aexpected: yes"), commands[2])
		require.Contains(t, commands[3], "%0Aerror: timeout: ]]>")
		require.Equal(t, "::error title=Assay gate%3A exact_match>=80%25 failed::0.700 [0.600, 0.780] from 99 items: the whole interval misses it.", commands[0])
		require.True(t, strings.HasPrefix(commands[1], "::warning title=Assay gate%3A overall>=0.9 inconclusive::0.910 [0.870, 0.950] from 99 items"), commands[1])
	})

	t.Run("names from elsewhere are no commands", func(t *testing.T) {
		t.Parallel()
		name, err := json.Marshal("::stop-commands::x" + evil)
		require.NoError(t, err)
		message, err := json.Marshal(evil + " 100%\n::error::z")
		require.NoError(t, err)
		routes := gated()
		routes["GET /api/evaluations/7"] = []string{`{"id":"7","name":` + string(name) + `,"status":"completed"}`}
		routes["GET "+run42] = []string{wireRun("42", "failed", `,"error":{"code":"timeout","message":`+string(message)+`}`)}
		env := append((&evaluations{}).serve(t, routes), "GITHUB_ACTIONS=true", "COLUMNS=40")
		got := run(env, "gate", "7", "--run=42", "--require=pass_rate>=0.83", "--github")
		require.Equal(t, 3, got.Code)
		commands := commandsIn(got.Out)
		require.Len(t, commands, 1, got.Out)
		require.True(t, strings.HasPrefix(commands[0], "::error title=Assay gate%3A no completed run::run 42 is failed, not completed: "), commands[0])
		require.Contains(t, commands[0], "%250A", "a percent sign is escaped")
		require.NotContains(t, strings.ReplaceAll(got.Out, commands[0], ""), "##[")

		for _, args := range [][]string{{"run", "7"}, {"compare", "7", "41", "42"}} {
			routes := gated()
			routes["GET /api/evaluations/7"] = []string{`{"id":"7","name":` + string(name) + `,"status":"completed"}`}
			routes["POST "+runs] = []string{wireRun("42", "running", "")}
			got := run(append((&evaluations{}).serve(t, routes), "GITHUB_ACTIONS=true"), args...)
			require.Zero(t, got.Code, got.Err)
			require.Empty(t, commandsIn(got.Out+got.Err), args)
		}
	})
}

// commandsIn are the lines that GitHub's runner takes for commands.
func commandsIn(text string) (found []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "::") {
			found = append(found, line)
		}
	}
	return found
}

func TestCompareCommand(t *testing.T) {
	t.Parallel()

	t.Run("draws", func(t *testing.T) {
		t.Parallel()
		s := &evaluations{}
		got := run(append(s.serve(t, gated()), "COLUMNS=80"), "compare", "Support answers", "previous", "latest", "--margin=0.02")
		require.Zero(t, got.Code, got.Err)
		require.Contains(t, s.asked, "GET "+runs+"/compare?baselineRunId=41&candidateRunId=42&margin=0.02")
		for _, want := range []string{
			"Support answers · run 41 → run 42\n", "▲ improved\n", "▼ regressed\n", "= no worse\n", "? inconclusive\n",
			"5 items better · 1 worse · 94 unchanged\n", "17           overall 1→0  exact_match 1→0\n", "This comparison can resolve differences of 5 points or more.\n",
		} {
			require.Contains(t, got.Out, want)
		}
	})

	t.Run("prints JSON", func(t *testing.T) {
		t.Parallel()
		got := run((&evaluations{}).serve(t, gated()), "compare", "7", "41", "42", "--json")
		require.Zero(t, got.Code, got.Err)
		require.JSONEq(t, gated()["GET "+runs+"/compare"][0], got.Out)
	})

	t.Run("says what is wrong", func(t *testing.T) {
		t.Parallel()
		routes := gated()
		routes["GET "+runs+"/compare"] = []string{comparison(false, compared("pass_rate", 0, 0, 0, "", ""), compared("overall", 0, 0, 0, "", ""))}
		env := (&evaluations{}).serve(t, routes)
		got := run(env, "compare", "7", "41", "42")
		require.Equal(t, 3, got.Code)
		require.Contains(t, got.Out, "! not comparable: the pass rules differ\n")
		got = run(env, "compare", "7", "42", "latest")
		require.Equal(t, result{2, "", "assay: both names refer to run 42: name two different runs\n"}, got)
		require.Equal(t, 2, run(env, "compare", "7", "99", "42").Code)
		for _, args := range [][]string{{"compare", "7", "41"}, {"compare", "7", "41", "41"}, {"compare", "7", "41", "last"}, {"compare", "7", "41", "42", "--margin=-1"}} {
			require.Equal(t, 2, run([]string{userKey}, args...).Code, args)
		}
	})
}
