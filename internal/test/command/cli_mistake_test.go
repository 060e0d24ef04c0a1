package command_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// A mistake is what somebody does wrong, with the exit code and the whole message
// that it leads to. Words in braces are put in: ids and addresses of the test.
type mistake struct {
	name    string
	environ []string // instead of the usual one
	args    string   // separated by spaces; a tilde is a space
	code    int
	message string
}

// TestMistakes makes every mistake on a real server. A message says what is
// wrong, where, and what to do.
func TestMistakes(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	e := recorded(t, c, 10)
	ended := func(body map[string]any) testkit.Run {
		r, err := c.StartRun(t.Context(), e.ID, body)
		require.NoError(t, err)
		return c.Ended(t, r)
	}
	first, second := ended(nil), ended(nil)
	waiting := c.Evaluation(t, e.DatasetID, map[string]any{"name": "Waiting", "target": map[string]any{"type": "client"}})
	open, err := c.StartRun(t.Context(), waiting.ID, nil)
	require.NoError(t, err)
	fresh := c.Evaluation(t, e.DatasetID, map[string]any{"name": "Never run"})
	c.Evaluation(t, e.DatasetID, map[string]any{"name": "Twins"})
	twin := c.Evaluation(t, e.DatasetID, map[string]any{"name": "Twins"})
	questions, err := c.GetDataset(t.Context(), e.DatasetID)
	require.NoError(t, err)
	archived := c.Evaluation(t, e.DatasetID, map[string]any{"name": "Archived"})
	_, err = c.UpdateEvaluation(t.Context(), archived.ID, map[string]any{"archived": true})
	require.NoError(t, err)
	reader, err := c.CreateKey(t.Context(), testkit.NewKey{Name: "reader", Scopes: []string{"eval:read"}})
	require.NoError(t, err)
	revoked, err := c.CreateKey(t.Context(), testkit.NewKey{Name: "revoked", Scopes: []string{"eval:read"}})
	require.NoError(t, err)
	require.NoError(t, c.DeleteAPIKey(t.Context(), revoked.ID))
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>Welcome</html>")) }))
	t.Cleanup(other.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	down := closed.Addr().String()
	require.NoError(t, closed.Close())
	dir := t.TempDir()
	for name, text := range map[string]string{
		"expected.jsonl": `{"input":"a","expectedOutput":"b"}` + "\n" + `{"input":"a","expectation":"b"}` + "\n", "words.jsonl": "hello\n", "empty.jsonl": "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}

	key, at := "SERVICE_API_KEY="+c.Key.Reveal(), "ASSAY_URL="+k.URL
	put := strings.NewReplacer("{eval}", e.ID, "{first}", first.RunID, "{second}", second.RunID, "{waiting}", waiting.ID, "{open}", open.RunID, "{fresh}", fresh.ID,
		"{archived}", archived.ID, "{dataset}", e.DatasetID, "{url}", k.URL, "{other}", other.URL, "{down}", down, "{dir}", dir, "{twin}", twin.ID, "{questions}", questions.Name, "~", " ")
	altered := c.Key.Reveal()[:len(c.Key.Reveal())-2]
	for _, m := range mistakes(at, key, altered, revoked.Key.Reveal(), reader.Key.Reveal()) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			environ := m.environ
			if environ == nil {
				environ = []string{key, at}
			}
			for i := range environ {
				environ[i] = put.Replace(environ[i])
			}
			args := strings.Fields(m.args)
			for i := range args {
				args[i] = put.Replace(args[i])
			}
			got := run(environ, args...)
			said := got.Err
			if got.Code == 1 && got.Out != "" {
				said, _, _ = strings.Cut(got.Out, "\n\n") // what follows is where to look
				_, said, _ = strings.Cut(said, "\n")      // the first line names the run
			}
			if i := strings.Index(said, "\nassay: "); i >= 0 && !strings.HasPrefix(said, "assay: ") {
				said = said[i+1:] // a run that takes long is shown before
			}
			said = took.ReplaceAllString(strings.TrimSpace(said), "TIME")
			require.Equal(t, put.Replace(m.message), said)
			require.Equal(t, m.code, got.Code)
			require.NotContains(t, got.Err+got.Out, c.Key.Reveal(), "no message has the key")
		})
	}
}

// took is how long something took.
var took = regexp.MustCompile(`[0-9.]+m?s\b`)

// mistakes are made one by one.
func mistakes(at, key, altered, revoked, reader string) []mistake {
	return []mistake{
		// The key.
		{"no key", []string{at}, "run {eval}", 2, "assay: there is no API key for {url}: run `assay login {url}`, or set ASSAY_API_KEY; `assay admin bootstrap` prints the first key"},
		{"a part of a key", []string{at, "ASSAY_API_KEY=" + altered}, "run {eval}", 2, "assay: the key in ASSAY_API_KEY was rejected: The API key is incomplete: a part of it is missing or changed. Copy it again, whole."},
		{"a revoked key", []string{at, "ASSAY_API_KEY=" + revoked}, "gate {eval} --require=overall>=0.5", 2, "assay: the key in ASSAY_API_KEY was rejected: This API key was revoked. Create a new one."},
		{"a key of a provider", []string{at, "ASSAY_API_KEY=sk-proj-0123456789abcdefghij"}, "dataset list", 2, "assay: the key in ASSAY_API_KEY was rejected: This looks like a model provider's key. Send an API key of this service, which begins with asy_."},
		{"a key in quotes", []string{at, "ASSAY_API_KEY='asy_live_x y'"}, "dataset list", 2, "assay: the API key contains invalid characters: copy it again, without quotes and spaces"},
		{"a key that may only read", []string{at, "SERVICE_API_KEY=" + reader}, "run {eval}", 2, "assay: the key in SERVICE_API_KEY lacks the scope eval:write: use a key that has it"},
		{"a profile that is not there", []string{at, "HOME={dir}", "ASSAY_PROFILE=work"}, "dataset list", 2, "assay: there is no profile \"work\": run `assay login URL --profile=work`, or unset ASSAY_PROFILE"},
		// The address.
		{"an address without a scheme", []string{key, "ASSAY_URL=assay.example.com"}, "dataset list", 2, "assay: invalid URL \"assay.example.com\": use one such as http://localhost:4318 or https://assay.example.com"},
		{"a key in the address", []string{key, "ASSAY_URL=https://user:secret@assay.example.com"}, "dataset list", 2, "assay: the URL must not have a user, query or fragment: set the key in ASSAY_API_KEY"},
		{"a server that is down", []string{key, "ASSAY_URL=http://{down}"}, "dataset list", 3, "assay: no response from http://{down}: dial tcp {down}: connect: connection refused; check that the server runs and that its URL is right, with `assay doctor`"},
		{"another web server", []string{key, "ASSAY_URL={other}"}, "dataset list", 3, "assay: {other}: not an Assay response: check the URL"},
		{"a path too many", []string{key, "ASSAY_URL={url}/api"}, "dataset list", 2, "assay: invalid URL \"{url}/api\": use the base URL, without /api"},
		// Names and ids.
		{"a part of a name", nil, "run Support", 2, "assay: evaluation \"Support\" not found; did you mean \"Support answers\" ({eval})?"},
		{"a name that nothing has", nil, "gate Nothing --require=overall>=0.5", 2, "assay: evaluation \"Nothing\" not found: use its ID or name; `assay evaluation list` shows them"},
		{"a name that two have", nil, "run Twins", 2, "assay: 2 evaluations are named \"Twins\": use an ID, such as {twin}"},
		{"a run of another evaluation", nil, "results {waiting} {first}", 2, "assay: \"Waiting\" has no run {first}: `assay runs list {waiting}` shows its runs"},
		{"a run by a word that is none", nil, "results {eval} newest", 2, "assay: \"newest\" is not a run: use a run ID or latest; `assay runs list {eval}` shows them"},
		{"no run yet", nil, "report {fresh}", 2, "assay: \"Never run\" has no runs yet: start one with `assay run {fresh}`"},
		{"an archived evaluation", nil, "run {archived}", 2, "assay: The evaluation is archived, so a run cannot be started. Restore it with archived: false first."},
		{"a dataset that is not there", nil, "evaluation create New --dataset=Refunds --metric=exact_match", 2, "assay: dataset \"Refunds\" not found: use its ID or name; `assay dataset list` shows them"},
		{"a misspelt metric of a new evaluation", nil, "evaluation create New --dataset={dataset} --metric=exact-match", 2, "assay: --metric=exact-match: there is no such metric: did you mean exact_match?"},
		{"a metric that is not there", nil, "metric show bleu5", 2, "assay: there is no metric \"bleu5\": `assay metric list` shows them"},
		{"a provider key that is not there", nil, "evaluation create New --dataset={dataset} --metric=exact_match --model=openai:gpt-4.1", 2, "assay: provider key \"openai\" not found: use its ID or name; `assay provider list` shows them"},
		{"a model without a provider", nil, "evaluation create New --dataset={dataset} --metric=exact_match --model=gpt-4.1", 2, "assay: evaluation create: --model=gpt-4.1 has no provider key: use KEY:MODEL, such as 1:gpt-4.1 or simulated:echo\nRun `assay evaluation create --help` for its arguments and flags."},
		{"a private address", nil, "evaluation create New --dataset={dataset} --metric=exact_match --target=http://10.1.2.3:5005/", 2, "assay: The request is invalid: target/url cannot be called: The URL's address is not public. Use a public https URL, or ask the operator of this deployment to allow it: ASSAY_EGRESS_ALLOW=10.1.2.3:5005"},
		{"a trace id that is none", nil, "traces get abc", 1, "assay: \"abc\" is not a trace ID: use its 32 hexadecimal digits, or the trace number"},
		// Rules and units.
		{"a misspelt metric", nil, "gate {eval} --require=passrate>=0.85", 2, "assay: --require \"passrate>=0.85\": the evaluation has no metric \"passrate\": did you mean pass_rate?"},
		{"a metric that was not measured", nil, "gate {eval} --require=faithfulness>=0.85", 2, "assay: --require \"faithfulness>=0.85\": the evaluation has no metric \"faithfulness\": use pass_rate, overall, exact_match or similarity"},
		{"an operator that is none", nil, "gate {eval} --require=pass_rate=0.9", 2, "assay: gate: --require \"pass_rate=0.9\" is not a valid requirement: use one such as pass_rate>=0.9, p95(latency_ms)<=800 or overall:non_inferior\nRun `assay gate --help` for its arguments and flags."},
		{"a percentage without its sign", nil, "gate {eval} --require=pass_rate>=90", 2, "assay: gate: --require \"pass_rate>=90\": pass_rate is between 0 and 1: use a number such as 0.9, or 90%\nRun `assay gate --help` for its arguments and flags."},
		{"a claim that is none", nil, "gate {eval} --require=overall:good", 2, "assay: gate: --require \"overall:good\": unknown comparison \"good\": use better, non_inferior or equivalent\nRun `assay gate --help` for its arguments and flags."},
		{"a claim without a margin", nil, "gate {eval} --require=overall:non_inferior", 2, "assay: gate: --require \"overall:non_inferior\" needs --margin, the largest loss that does not matter: add one such as --margin=2%\nRun `assay gate --help` for its arguments and flags."},
		{"a margin without its sign", nil, "gate {eval} --require=overall:non_inferior --margin=2", 2, "assay: gate: --margin is 2, but must be from 0 to 1: write 2% or 0.02\nRun `assay gate --help` for its arguments and flags."},
		{"a margin in words", nil, "compare {eval} {first} {second} --margin=small", 2, "assay: --margin: \"small\" is not a number: use a fraction such as 0.02, or 2%\nRun `assay compare --help` for its arguments and flags."},
		{"a baseline that is none", nil, "gate {eval} --require=overall:better --baseline=main", 2, "assay: gate: --baseline=main names no run: use a run ID, passed, pinned, previous, branch:NAME, release:ID or tag:NAME\nRun `assay gate --help` for its arguments and flags."},
		{"a run as its own baseline", nil, "gate {eval} --require=overall:better --run={first} --baseline={first}", 2, "assay: --baseline is run {first} itself: use another run"},
		{"a baseline that is not there", nil, "gate {eval} --require=overall:better --baseline=4711000", 2, "assay: The request is invalid: baselineRunId does not name a run of this evaluation: use the id of one of its runs"},
		{"a run compared with itself", nil, "compare {eval} {first} {first}", 2, "assay: compare: the two runs are the same: name two different runs, such as previous latest\nRun `assay compare --help` for its arguments and flags."},
		{"a release with a space", nil, "run {eval} --release=Release~1", 2, "assay: The request is invalid: releaseId must have the form: 3 to 64 lower-case letters, digits, dots, underscores and hyphens"},
		{"a negative sample", nil, "run {eval} --sample=-1", 2, "assay: run: --sample must not be negative: use a number from 1\nRun `assay run --help` for its arguments and flags."},
		{"a version that is not there", nil, "run {eval} --dataset-version=9 --wait", 1, "dataset_not_found: The dataset does not have this frozen version.\ntook TIME · cost $0 · dataset version 9"},
		{"a score without its metric", nil, "results {eval} --below=0.5", 2, "assay: results: --below needs --metric, the metric whose score it is: add one such as --metric=exact_match\nRun `assay results --help` for its arguments and flags."},
		// States and files.
		{"a report before the end", nil, "report {waiting}", 2, "assay: run {open} is still in progress: its report is written when it ends; `assay runs attach {waiting} {open}` waits for that"},
		{"a run that cannot be cancelled", nil, "runs cancel {eval} {first}", 2, "assay: run {first} is already completed: there is nothing to cancel"},
		{"a pin before the end", nil, "baseline pin {waiting}", 2, "assay: run {open} is running: pin a completed run; `assay runs list {waiting} --status=completed` shows them"},
		{"a deletion by mistake", nil, "dataset delete {dataset}", 2, "assay: dataset {dataset} \"{questions}\" with 10 items would be deleted: repeat with --yes"},
		{"a file that is not there", nil, "dataset import {dir}/none.jsonl {dataset}", 2, "assay: the items cannot be read: open {dir}/none.jsonl: no such file or directory"},
		{"a field that no item has", nil, "dataset import {dir}/expected.jsonl {dataset}", 2, "assay: {dir}/expected.jsonl, line 2: has the member \"expectation\", which is not a field of an item: map it with --map expectation=labels.expectation, or leave it out with --map expectation=\nassay: the import stopped: correct the lines and import the file into dataset {dataset} again, or pass --go-on to leave them out"},
		{"a file without JSON", nil, "dataset import {dir}/words.jsonl {dataset}", 2, "assay: {dir}/words.jsonl, line 1: is not a JSON object\nassay: the import stopped: correct the lines and import the file into dataset {dataset} again, or pass --go-on to leave them out"},
		{"a file without items", nil, "dataset import {dir}/empty.jsonl {dataset}", 2, "assay: {dir}/empty.jsonl has no items: write one a line"},
		{"a folder that is not there", nil, "report {eval} {first} --output={dir}/none/report.html", 2, "assay: the report cannot be written: open {dir}/none/report.html: no such file or directory; name another file with --output"},
		// The command line.
		{"a misspelt command", nil, "dataset lst", 2, "assay: unexpected argument lst, did you mean \"list\"?\nRun `assay dataset --help` for its arguments and flags."},
		{"a misspelt flag", nil, "gate {eval} --requires=overall>=0.5", 2, "assay: unknown flag --requires, did you mean \"--require\"?\nRun `assay gate --help` for its arguments and flags."},
		{"no requirement", nil, "gate {eval}", 2, "assay: missing flags: --require=RULE\nRun `assay gate --help` for its arguments and flags."},
		{"flags of a new run for an old one", nil, "gate {eval} --require=overall>=0.5 --sample=5", 2, "assay: gate: flags that start a run, such as --sample, need --run=new: add it, or leave them out\nRun `assay gate --help` for its arguments and flags."},
	}
}
