package specimen

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// Maker makes objects of one organization and fills the templates of calls with
// their ids.
type Maker struct {
	Client *testkit.Client
	// Rows inserts what no operation makes: a connection that may write rows of
	// the organization.
	Rows *pgx.Conn
	// Label begins every name that the maker gives.
	Label string
	// InPerson says that the client's key is a member's own.
	InPerson bool

	ids    map[string][]string
	person *testkit.Client
}

// NewMaker returns a maker without objects.
func NewMaker(c *testkit.Client, rows *pgx.Conn, label string) *Maker {
	return &Maker{Client: c, Rows: rows, Label: label, ids: map[string][]string{
		"organization": {c.Org.String()},
		"provider":     {"https://api.openai.com/v1"},
	}}
}

// Fork returns a maker with the same objects. What one of the two makes from now
// on is unknown to the other.
func (m *Maker) Fork() *Maker {
	fork := *m
	fork.ids = map[string][]string{}
	for noun, ids := range m.ids {
		fork.ids[noun] = slices.Clone(ids)
	}
	return &fork
}

// Put lets a noun be an object that the test has made by itself.
func (m *Maker) Put(noun string, ids ...string) { m.ids[noun] = ids }

// All are the objects of a noun that were made so far.
func (m *Maker) All(noun string) []string { return m.ids[noun] }

// ID is an object of a noun: the middle one, so that it has neighbours. It is
// made if there is none.
func (m *Maker) ID(t testing.TB, noun string) string {
	t.Helper()
	if len(m.ids[noun]) == 0 {
		m.Make(t, noun)
	}
	return m.ids[noun][len(m.ids[noun])/2]
}

// Make makes one more object of a noun.
func (m *Maker) Make(t testing.TB, noun string) string {
	t.Helper()
	id := ""
	for _, n := range Nouns() {
		switch {
		case n.Name != noun:
			continue
		case n.Row != "":
			id = m.insert(t, n.Row)
		default:
			id = m.call(t, n)
		}
	}
	require.NotEmpty(t, id, "no area has the noun %s", noun)
	m.ids[noun] = append(m.ids[noun], id)
	return id
}

// call makes an object with the operation that makes it.
func (m *Maker) call(t testing.TB, n Noun) string {
	t.Helper()
	o := Find(n.Made)
	c := m.Call(t, o)
	var out any
	_, err := m.Caller(t, o).Call(t.Context(), c.Method, c.Path+c.Query, jsontext.Value(c.Body), &out, m.options(o)...)
	require.NoError(t, err, "make a %s", n.Name)
	id := m.at(t, out, n.ID)
	return url.PathEscape(id)
}

// Caller is a client that may call an operation: the maker's own, or the owner in
// person where only a member may call.
func (m *Maker) Caller(t testing.TB, o Operation) *testkit.Client {
	t.Helper()
	if !o.InPerson || m.InPerson {
		return m.Client
	}
	if m.person == nil {
		m.person = m.Client.InPerson(t)
	}
	return m.person
}

// options are what an operation needs besides its contents.
func (m *Maker) options(o Operation) (opts []testkit.Option) {
	if o.Person && !m.InPerson {
		opts = append(opts, testkit.OnBehalfOf(m.Client.Owner.String()))
	}
	if !o.Telemetry {
		opts = append(opts, testkit.Idempotent("specimen "+strconv.FormatInt(made.Add(1), 10)))
	}
	return opts
}

// at reads a place of a response.
func (m *Maker) at(t testing.TB, v any, place string) string {
	t.Helper()
	for part := range strings.SplitSeq(place, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[part]
		case []any:
			i, err := strconv.Atoi(part)
			require.NoError(t, err)
			v = in[i]
		}
	}
	require.NotNil(t, v, "the response has nothing at %s", place)
	if n, ok := v.(float64); ok {
		return strconv.FormatInt(int64(n), 10)
	}
	return fmt.Sprint(v)
}

// Insert inserts the row of a table.
func (m *Maker) Insert(t testing.TB, table string) {
	t.Helper()
	for _, n := range Nouns() {
		if n.Row == table {
			m.Make(t, n.Name)
			return
		}
	}
	m.insert(t, table)
}

// Everything makes an object of each noun, and a row in each table that this
// leaves empty, except in some tables.
func (m *Maker) Everything(t testing.TB, except ...string) {
	t.Helper()
	for _, n := range Nouns() {
		if n.Row == "" {
			m.ID(t, n.Name)
		}
	}
	for _, r := range Rows() {
		if slices.Contains(except, r.Table) {
			continue
		}
		_, err := m.Rows.Exec(t.Context(), "SELECT set_config('app.org', $1, false)", m.Client.Org.String())
		require.NoError(t, err)
		var n int
		require.NoError(t, m.Rows.QueryRow(t.Context(), "SELECT count(*) FROM "+r.Table+" WHERE org_id = $1", m.Client.Org).Scan(&n), r.Table)
		if n == 0 {
			m.Insert(t, r.Table)
		}
	}
}

// insert inserts the row of a table and returns the first column that the
// insert returns.
func (m *Maker) insert(t testing.TB, table string) (id string) {
	t.Helper()
	for _, r := range Rows() {
		if r.Table != table {
			continue
		}
		_, err := m.Rows.Exec(t.Context(), "SELECT set_config('app.org', $1, false)", m.Client.Org.String())
		require.NoError(t, err)
		rows, err := m.Rows.Query(t.Context(), m.fill(t, r.Insert, strings.ReplaceAll(m.Label, "'", "''")), m.Client.Org.String())
		require.NoError(t, err, table)
		defer rows.Close()
		for rows.Next() {
			values, err := rows.Values()
			require.NoError(t, err, table)
			id = fmt.Sprint(values[0])
		}
		require.NoError(t, rows.Err(), table)
		return id
	}
	require.Fail(t, "no area has a row of "+table)
	return ""
}

// Call is a call whose templates are filled in.
type Call struct{ Method, Path, Query, Body string }

// Call fills the templates of an operation with objects of the organization.
func (m *Maker) Call(t testing.TB, o Operation) Call {
	t.Helper()
	method, template := o.split()
	path := Chosen(template)
	for _, upTo := range Params(template) {
		noun, ok := NounOf(upTo)
		require.True(t, ok, "no noun for the parameter of %s", upTo)
		path = FillPath(path, upTo, m.ID(t, noun.Name))
	}
	return Call{Method: method, Path: path, Query: m.Fill(t, o.Query), Body: m.Fill(t, o.Body)}
}

var (
	parameter   = regexp.MustCompile(`\{[^}]*\}`)
	placeholder = regexp.MustCompile(`\{[a-z][a-z ]*\}`)
	made        atomic.Int64
)

// words are parameters that choose among what every organization has, and a choice.
var words = map[string]string{"/api/agent-evidence/{resource}": "failures"}

// Params are the path parameters that name an object, each as the path that ends with
// it.
func Params(path string) []string {
	var out []string
	for _, at := range parameter.FindAllStringIndex(path, -1) {
		if upTo := path[:at[1]]; words[upTo] == "" {
			out = append(out, upTo)
		}
	}
	return out
}

// Chosen is a path in which only parameters that name an object are left.
func Chosen(path string) string {
	for upTo, word := range words {
		if strings.HasPrefix(path, upTo) {
			path = FillPath(path, upTo, word)
		}
	}
	return path
}

// FillPath puts an id in the place of the parameter that upTo ends with. The
// parameters before it may be filled in already.
func FillPath(path, upTo, id string) string {
	return strings.Replace(path, upTo[strings.LastIndexByte(upTo, '{'):], id, 1)
}

// Fill fills a template.
func (m *Maker) Fill(t testing.TB, template string) string {
	t.Helper()
	return m.fill(t, template, m.Label)
}

func (m *Maker) fill(t testing.TB, template, label string) string {
	t.Helper()
	number := strconv.FormatInt(made.Add(1), 10)
	label += " " + number
	text := placeholder.ReplaceAllStringFunc(template, func(p string) string {
		switch p {
		case "{label}":
			return label
		case "{recently}":
			return recently
		case "{recently nano}":
			return recentlyNano
		}
		if noun, fresh := strings.CutPrefix(p, "{new "); fresh {
			return m.Make(t, strings.TrimSuffix(noun, "}"))
		}
		return m.ID(t, p[1:len(p)-1])
	})
	return strings.ReplaceAll(text, "#", number)
}

// Reject sends the refused body of an operation and returns the places that
// the refusal names.
func (m *Maker) Reject(t testing.TB, o Operation) (status int, places []string) {
	t.Helper()
	c := m.Call(t, o)
	res, err := m.Caller(t, o).Send(t.Context(), c.Method, c.Path+c.Query, strings.NewReader(m.Fill(t, o.Refused)), m.options(o)...)
	require.NoError(t, err)
	var e struct {
		Error struct {
			Details struct {
				Fields []struct {
					Path string `json:"path"`
				} `json:"fields"`
			} `json:"details"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal(res.Body, &e))
	for _, f := range e.Error.Details.Fields {
		places = append(places, f.Path)
	}
	return res.Status, places
}
