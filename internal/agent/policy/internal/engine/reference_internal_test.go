package engine

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/stretchr/testify/require"
)

// opinion is what an implementation of Cedar makes of a case: which policies decide,
// and which cannot be evaluated.
type opinion struct {
	Decision string   `json:"decision"`
	Reasons  []string `json:"reasons"`
	Errors   []string `json:"errors"`
	Failure  string   `json:"failure,omitempty"`
}

// example is a case as the reference reads it.
type example struct {
	Policies  map[string]string `json:"policies"`
	Principal json.RawMessage   `json:"principal"`
	Action    json.RawMessage   `json:"action"`
	Resource  json.RawMessage   `json:"resource"`
	Context   json.RawMessage   `json:"context"`
	Entities  json.RawMessage   `json:"entities"`
}

// exampleOf draws a case, and asks the engine.
func exampleOf(t *testing.T, seed uint64) (example, opinion) {
	t.Helper()
	r := newRandom(seed)
	e := example{Policies: map[string]string{}}
	var text strings.Builder
	for i := range 1 + r.IntN(5) {
		id := fmt.Sprintf("s%d", i)
		statement := r.statement("")
		e.Policies[id] = statement
		text.WriteString("@id(\"" + id + "\")\n" + statement)
	}
	set, err := Compile([]Source{{Key: "p", Mode: Enforce, Text: text.String()}})
	require.NoError(t, err, "seed %d\n%s", seed, text.String())
	q := r.question()
	p, err := q.prepare()
	require.NoError(t, err)
	r.hierarchy(p.entities)
	request := p.in(nil)
	e.Principal, e.Action, e.Resource = uid(request.Principal), uid(request.Action), uid(request.Resource)
	e.Context, err = request.Context.MarshalJSON()
	require.NoError(t, err)
	e.Entities, err = p.entities.MarshalJSON()
	require.NoError(t, err)
	return e, opinionOf(set.authorize(set.candidates(&q), p.entities, request))
}

func uid(u types.EntityUID) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"type": string(u.Type), "id": string(u.ID)})
	return raw
}

// hierarchy makes entities members of others.
func (r random) hierarchy(entities types.EntityMap) {
	red, blue := types.NewEntityUID("Team", "red"), types.NewEntityUID("Team", "blue")
	for _, team := range []types.EntityUID{red, blue} {
		if _, ok := entities[team]; !ok {
			entities[team] = types.Entity{UID: team}
		}
	}
	for u, e := range entities {
		if u.Type == "Team" || u.Type == "Action" || len(entities) == 0 {
			continue
		}
		if len(u.ID)%2 == 0 {
			e.Parents = types.NewEntityUIDSet(red)
			e.Tags = types.NewRecord(types.RecordMap{"refund": types.True, "production": types.Long(1)})
			entities[u] = e
		}
	}
	if r.chance(50) {
		e := entities[red]
		e.Parents = types.NewEntityUIDSet(blue)
		entities[red] = e
	}
}

// opinionOf puts the findings in Cedar's terms.
func opinionOf(f found) opinion {
	o := opinion{Decision: "deny", Reasons: []string{}, Errors: []string{}}
	deciding := f.permits
	switch {
	case len(f.forbids) > 0:
		deciding = f.forbids
	case len(f.permits) > 0:
		o.Decision = "allow"
	}
	for _, s := range deciding {
		o.Reasons = append(o.Reasons, s.ID)
	}
	for _, one := range f.failed {
		o.Errors = append(o.Errors, one.statement.ID)
	}
	slices.Sort(o.Reasons)
	slices.Sort(o.Errors)
	return o
}

func number64(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(cmp.Or(os.Getenv(name), strconv.FormatUint(otherwise, 10)), 10, 64)
	require.NoError(t, err, name)
	return v
}

// TestReference asks Cedar's reference implementation the same questions, and wants the
// same decisions, the same determining policies and the same errors.
func TestReference(t *testing.T) {
	t.Parallel()
	home := os.Getenv("ASSAY_POLICY_ORACLE")
	if home == "" {
		t.Skip("no reference: run internal/agent/policy/internal/engine/oracle/run") //nolint:forbidigo // the reference needs Node; the command that has it runs this test
	}
	count, first := number64(t, "CASES", 1000), number64(t, "SEED", 1)*1_000_000
	var in bytes.Buffer
	var ours []opinion
	var examples []example
	for seed := first; seed < first+count; seed++ {
		e, o := exampleOf(t, seed)
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		in.Write(append(raw, '\n'))
		ours, examples = append(ours, o), append(examples, e)
	}
	theirs := ask(t, home, &in, len(ours))
	allowed, failed, different, noticed := 0, 0, 0, 0
	for i, o := range ours {
		if differ(o, theirs[i]) {
			different++
			t.Logf("case %d: ours %+v, theirs %+v\n%+v\n%s\n%s", first+uint64(i), o, theirs[i], examples[i].Policies, examples[i].Context, examples[i].Entities)
		}
		if o.Decision == "allow" {
			allowed++
		}
		failed += len(o.Errors)
		if differ(o, changed(theirs[i])) {
			noticed++
		}
	}
	t.Logf("policy-oracle cases %d differences %d allowed %d errors %d sabotaged %d noticed %d", len(ours), different, allowed, failed, len(ours), noticed)
	require.Zero(t, different)
	require.Equal(t, len(ours)-different, noticed, "a wrong answer has to be noticed")
	require.Greater(t, allowed*20, len(ours))
	require.Greater(t, failed*10, len(ours))
	if os.Getenv("RECORD") != "" {
		keep(t, theirs[:recorded])
	}
}

func ask(t *testing.T, home string, in *bytes.Buffer, n int) []opinion {
	t.Helper()
	node := exec.CommandContext(t.Context(), "node", "oracle/ask.mjs", home)
	node.Stdin, node.Stderr = in, os.Stderr
	out, err := node.Output()
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	var theirs []opinion
	for lines.Scan() {
		var o opinion
		require.NoError(t, json.Unmarshal(lines.Bytes(), &o))
		theirs = append(theirs, o)
	}
	require.Len(t, theirs, n)
	return theirs
}

func differ(a, b opinion) bool {
	return b.Failure != "" || a.Decision != b.Decision || !slices.Equal(a.Reasons, b.Reasons) || !slices.Equal(a.Errors, b.Errors)
}

// changed is an opinion that is wrong.
func changed(o opinion) opinion {
	switch {
	case len(o.Errors) > 0:
		o.Errors = o.Errors[1:]
	case len(o.Reasons) > 0:
		o.Reasons = o.Reasons[1:]
	default:
		o.Decision = "allow"
	}
	return o
}

// recorded is how many opinions of the reference the repository keeps.
const recorded = 500

var recording = filepath.Join("testdata", "reference.json")

func keep(t *testing.T, theirs []opinion) {
	t.Helper()
	var out bytes.Buffer
	for _, o := range theirs {
		raw, err := json.Marshal(o)
		require.NoError(t, err)
		out.Write(append(raw, '\n'))
	}
	require.NoError(t, os.WriteFile(recording, out.Bytes(), 0o600))
}

// TestRecordedReference compares with what the reference said when it was asked last.
// After a change of the generator, oracle/run with RECORD=1 asks it again.
func TestRecordedReference(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(recording)
	require.NoError(t, err)
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	require.Len(t, lines, recorded)
	for i, line := range lines {
		var theirs opinion
		require.NoError(t, json.Unmarshal(line, &theirs))
		e, ours := exampleOf(t, 1_000_000+uint64(i))
		require.Equal(t, theirs, ours, "%+v", e)
	}
}
