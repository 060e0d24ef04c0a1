package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi"
)

func TestID(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	for _, c := range []struct {
		sent string
		want string // the form of the response; empty if it is refused
	}{
		{`"1042"`, `"1042"`},
		{`1042`, `"1042"`},
		{`9007199254740991`, `"9007199254740991"`},
		{`"9007199254740991"`, `"9007199254740991"`},
		{`"9007199254740992"`, ""},
		{`0`, ""},
		{`-1`, ""},
		{`1.5`, ""},
		{`"0"`, ""},
		{`"01"`, ""},
		{`"+1"`, ""},
		{`" 1"`, ""},
		{`""`, ""},
		{`"x"`, ""},
		{`true`, ""},
		{`[1]`, ""},
		{`{}`, ""},
		{`"99999999999999999999"`, ""},
	} {
		a := k.do(t, "POST", "/things", `{"name":"n","datasetId":`+c.sent+`}`)
		if c.want == "" {
			require.Equal(t, http.StatusBadRequest, a.Status, c.sent)
			continue
		}
		require.Equal(t, http.StatusCreated, a.Status, "%s: %s", c.sent, a.Body)
		require.Contains(t, a.Body, `"dataset_id":`+c.want)
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"1": 1, "9007199254740991": 1<<53 - 1, "9007199254740992": 0, "0": 0, "-1": 0, "01": 0, "+1": 0, " 1": 0, "1.0": 0, "": 0, "٣": 0, "1_0": 0} {
		got, ok := httpapi.ParseID(text)
		require.Equal(t, want, got, text)
		require.Equal(t, want != 0, ok, text)
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	for sent, want := range map[string]string{
		"2026-01-31T12:00:00Z":                "2026-01-31T12:00:00.000Z",
		"2026-01-31T12:00:00.1Z":              "2026-01-31T12:00:00.100Z",
		"2026-01-31T12:00:00.123999999+05:30": "2026-01-31T06:30:00.123Z",
		"2026-12-31T23:59:59.999-11:00":       "2027-01-01T10:59:59.999Z",
		"2026-01-31":                          "",
		"2026-01-31 12:00:00Z":                "",
		"2026-02-30T12:00:00Z":                "",
		"2026-01-31T12:00:00":                 "",
		"2026-01-31T24:00:00Z":                "",
		"":                                    "",
	} {
		a := k.do(t, "POST", "/things", `{"name":"n","startsAt":"`+sent+`"}`)
		if want == "" {
			require.Equal(t, []string{"body /startsAt format"}, a.fields(), sent)
			continue
		}
		require.Contains(t, a.Body, `"starts_at":"`+want+`"`, sent)
	}
	text, err := json.Marshal(httpapi.Time(time.Date(2026, 7, 1, 2, 3, 4, 999_999_999, time.FixedZone("odd", 34200))))
	require.NoError(t, err)
	require.Equal(t, `"2026-06-30T16:33:04.999Z"`, string(text))
}

func TestPatchTellsAbsentNullAndValueApart(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	for body, want := range map[string]string{
		``:                          `"name":"before","max_count":5`,
		`{}`:                        `"name":"before","max_count":5`,
		`{"note":null}`:             `"name":"","max_count":5`,
		`{"note":""}`:               `"name":"","max_count":5`,
		`{"note":"after"}`:          `"name":"after","max_count":5`,
		`{"max_count":null}`:        `"name":"before","max_count":0`,
		`{"note":"a","maxCount":0}`: `"name":"a","max_count":0`,
	} {
		a := k.do(t, "PATCH", "/things/7", body)
		require.Equal(t, http.StatusOK, a.Status, a.Body)
		require.Contains(t, a.Body, want, body)
	}
	require.Equal(t, []string{"body /note type"}, k.do(t, "PATCH", "/things/7", `{"note":7}`).fields())
}

func TestPage(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	require.Contains(t, k.do(t, "GET", "/things", "").Body, `"limit":50,"offset":0`)
	require.Contains(t, k.do(t, "GET", "/things?limit=1000&offset=100000", "").Body, `"limit":1000,"offset":100000`)
	for query, want := range map[string]string{
		"limit=0": "query limit min", "limit=1001": "query limit max", "limit=x": "query limit type", "offset=-1": "query offset min",
		"offset=1e2":  "query offset type",
		"sortBy=size": "query sortBy enum", "includeTotal=perhaps": "query includeTotal type",
	} {
		require.Equal(t, []string{want}, k.do(t, "GET", "/things?"+query, "").fields(), query)
	}
	for _, query := range []string{"offset=2147483648", "offset=9223372036854775807"} {
		require.Contains(t, k.do(t, "GET", "/things?"+query, "").fields(), "query offset max", "the database counts rows in 31 bits")
	}
	deep := k.do(t, "GET", "/things?offset=100001", "")
	require.Equal(t, "use_cursor", deep.reason())
	require.Equal(t, []string{"query offset max"}, deep.fields())
	both := k.do(t, "GET", "/things?offset=1&cursor="+thingCursor.Text(5), "")
	require.Equal(t, []string{"query cursor mutually_exclusive"}, both.fields())
}

func TestCursor(t *testing.T) {
	t.Parallel()
	k := newKit(t, config())
	require.Contains(t, k.do(t, "GET", "/things", "").Body, `"after":`+strconv.FormatInt(math.MaxInt64, 10), "no cursor begins at the top")
	good := thingCursor.Text(77)
	require.Contains(t, k.do(t, "GET", "/things?cursor="+good, "").Body, `"after":77`)
	bad := []string{
		"77", "!", good + "A", good + "%0A", good[1:], good[:len(good)-1], thingCursor.Text(0), thingCursor.Text(-7), thingCursor.Text(math.MaxInt64), httpapi.IDCursor("others").Text(77),
		httpapi.Cursor[uint8]("things").Text(httpapi.Place[uint8]{At: 77}), base64.RawURLEncoding.EncodeToString([]byte("c1:77")),
	}
	for i := range good {
		damaged := []byte(good)
		damaged[i] ^= 1 // another character
		bad = append(bad, string(damaged))
	}
	for _, cursor := range bad {
		require.Equal(t, []string{"query cursor format"}, k.do(t, "GET", "/things?cursor="+cursor, "").fields(), cursor)
	}
}

func TestIfMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header string
		inBody int64
		want   int64
		code   string
	}{
		{"", 0, 0, ""},
		{"*", 0, 0, ""},
		{"", 4, 4, ""},
		{"*", 4, 4, ""},
		{`"v4"`, 0, 4, ""},
		{`W/"v4"`, 0, 4, ""},
		{`"v4"`, 4, 4, ""},
		{`"v4"`, 5, 0, "body /expectedVersion ambiguous_field"},
		{`"v0"`, 0, 0, "header If-Match format"},
		{`"v-1"`, 0, 0, "header If-Match format"},
		{`"v+4"`, 0, 0, "header If-Match format"},
		{`"v04"`, 0, 0, "header If-Match format"},
		{`v4`, 0, 0, "header If-Match format"},
		{`"4"`, 0, 0, "header If-Match format"},
		{`"v4", "v5"`, 0, 0, "header If-Match format"},
		{`"v4`, 0, 0, "header If-Match format"},
	} {
		t.Run(fmt.Sprintf("%s and %d", c.header, c.inBody), func(t *testing.T) {
			t.Parallel()
			k := newKit(t, config())
			body := "{}"
			if c.inBody != 0 {
				body = fmt.Sprintf(`{"expectedVersion":%d}`, c.inBody)
			}
			got, err := httpapi.IfMatch{Header: c.header}.Expected(c.inBody)
			require.Equal(t, c.want, got)
			require.Equal(t, c.code != "", err != nil)
			a := k.do(t, "PATCH", "/things/7", body, "If-Match: "+c.header)
			if c.code != "" {
				require.Equal(t, []string{c.code}, a.fields())
			} else if c.want > 1 {
				require.Equal(t, "version_conflict", a.reason())
			}
		})
	}
	require.Equal(t, `"v12"`, httpapi.ETag(12))
}
