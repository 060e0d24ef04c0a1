package shape_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/httpapi/shape"
)

// order is a body with every kind of field.
type order struct {
	Name      string           `json:"name" minLength:"1" maxLength:"5"`
	MaxCount  int              `json:"maxCount,omitzero" minimum:"1" maximum:"10"`
	Mode      string           `json:"mode,omitzero" enum:"live,test" default:"live"`
	Ratio     *float64         `json:"ratio,omitzero" exclusiveMinimum:"0"`
	Slug      string           `json:"slug,omitzero" pattern:"^[a-z]+$" patternDescription:"lower-case letters"`
	At        string           `json:"at,omitzero" format:"date-time"`
	Tags      []string         `json:"tags,omitzero" maxItems:"3" minItems:"1" uniqueItems:"true"`
	Inner     inner            `json:"inner,omitzero"`
	InnerList []inner          `json:"innerList,omitzero" maxItems:"2"`
	ByModel   map[string]inner `json:"byModel,omitzero"`
	FreeForm  any              `json:"freeForm,omitzero"`
	Renamed   strict           `json:"renamed,omitzero"`
}

type inner struct {
	InnerName string `json:"innerName,omitzero"`
	FreeForm  any    `json:"freeForm,omitzero"`
}

// strict refuses null although it may be absent.
type strict string

func (strict) NotNull() {}

func orderShape() *shape.Shape {
	r := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	t := reflect.TypeFor[order]()
	return shape.Of(r, r.Schema(t, true, ""), t)
}

// want is a violation as path, code.
type want map[string]string

func TestReadFindsEveryViolation(t *testing.T) {
	t.Parallel()
	s := orderShape()
	for name, c := range map[string]struct {
		body string
		want want
	}{
		"nothing wrong":              {`{"name":"a"}`, nil},
		"required":                   {`{}`, want{"/name": "required"}},
		"required and null":          {`{"name":null}`, want{"/name": "type"}},
		"all at once":                {`{"name":"","maxCount":0,"mode":"x","ratio":0,"slug":"A","at":"now"}`, want{"/name": "length", "/maxCount": "min", "/mode": "enum", "/ratio": "min", "/slug": "pattern", "/at": "format"}},
		"types":                      {`{"name":1,"max_count":"1","tags":{},"inner":[],"ratio":true}`, want{"/name": "type", "/maxCount": "type", "/tags": "type", "/inner": "type", "/ratio": "type"}},
		"a fraction is no integer":   {`{"name":"a","maxCount":1.5}`, want{"/maxCount": "type"}},
		"above":                      {`{"name":"a","maxCount":11}`, want{"/maxCount": "max"}},
		"length counts characters":   {`{"name":"ééééé"}`, nil},
		"too long":                   {`{"name":"éééééé"}`, want{"/name": "length"}},
		"escapes count once":         {`{"name":"\u00e9\n\"\\/"}`, nil},
		"entries":                    {`{"name":"a","tags":["x",1,"x"]}`, want{"/tags/1": "type", "/tags": "format"}},
		"too many entries":           {`{"name":"a","innerList":[{},{},{"innerName":1}]}`, want{"/innerList": "length"}},
		"no entries":                 {`{"name":"a","tags":[]}`, want{"/tags": "length"}},
		"nested":                     {`{"name":"a","inner_list":[{"inner_name":1}],"byModel":{"a/b":{"innerName":2}}}`, want{"/innerList/0/innerName": "type", "/byModel/a~1b/innerName": "type"}},
		"null means absent":          {`{"name":"a","maxCount":null,"tags":null,"inner":null}`, nil},
		"null where it is refused":   {`{"name":"a","renamed":null}`, want{"/renamed": "type"}},
		"null in a list":             {`{"name":"a","tags":[null]}`, want{"/tags/0": "type"}},
		"both casings, one value":    {`{"name":"a","maxCount":1,"max_count":1.0}`, want{}},
		"both casings, two values":   {`{"name":"a","maxCount":1,"max_count":2}`, want{"/max_count": "ambiguous_field"}},
		"null in one casing":         {`{"name":"a","maxCount":null,"max_count":5}`, want{"/max_count": "ambiguous_field"}},
		"an entry, escaped":          {`{"name":"a","tags":["x","\u0078"]}`, want{"/tags": "format"}},
		"U+0000 in a name":           {`{"name":"a","byModel":{"a\u0000":{}}}`, want{"/byModel/a\x00": "format"}},
		"a casing of its own":        {`{"name":"a","MaxCount":1}`, want{"/MaxCount": "ambiguous_field"}},
		"U+0000":                     {`{"name":"a\u0000"}`, want{"/name": "format"}},
		"an escaped backslash is no": {`{"name":"\\u000"}`, nil},
		"free-form":                  {`{"name":"a","freeForm":{"max_count":[1,null,"\u0000"]}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := s.Read([]byte(c.body), nil)
			require.NoError(t, err)
			found := want{}
			for _, f := range got.Violations {
				require.Equal(t, "body", f.In)
				require.NotContains(t, f.Message, "%")
				found[f.Path] = f.Code
			}
			if c.want == nil {
				c.want = want{}
			}
			require.Equal(t, c.want, found)
		})
	}
}

func TestReadWritesDocumentedNames(t *testing.T) {
	t.Parallel()
	s := orderShape()
	for name, c := range map[string]struct {
		body, want string
		ignored    []string
	}{
		"documented":     {`{"name":"a","mode":"test"}`, `{"name":"a","mode":"test"}`, nil},
		"default":        {`{"name":"a"}`, `{"name":"a","mode":"live"}`, nil},
		"renamed":        {`{"name":"a","mode":"test", "max_count" : 1,"inner_list":[{"inner_name":"x"}]}`, `{"name":"a","mode":"test", "maxCount" : 1,"innerList":[{"innerName":"x"}]}`, nil},
		"dropped":        {`{"x":1, "y":{},"name":"a","z":2,"mode":"test","zz":3}`, `{"name":"a","mode":"test"}`, []string{"/x", "/y", "/z", "/zz"}},
		"dropped inside": {`{"name":"a","mode":"test","inner":{"x":1},"innerList":[{"x":1,"innerName":"b"}]}`, `{"name":"a","mode":"test","inner":{},"innerList":[{"innerName":"b"}]}`, []string{"/inner/x", "/innerList/0/x"}},
		"twice":          {`{"mode":"test","maxCount":1,"max_count":1,"name":"a"}`, `{"mode":"test","maxCount":1,"name":"a"}`, nil},
		"null":           {`{"mode":null,"name":"a"}`, `{"name":"a","mode":"live"}`, nil},
		"entries":        {`{"name":"a","mode":"test","by_model":{"snake_model":{"inner_name":"1"},"x":{"y":3}}}`, `{"name":"a","mode":"test","byModel":{"snake_model":{"innerName":"1"},"x":{}}}`, []string{"/byModel/x/y"}},
		"free-form":      {`{"name":"a","mode":"test","free_form":{ "max_count": 1}}`, `{"name":"a","mode":"test","freeForm":{ "max_count": 1}}`, nil},
		"organization":   {`{"organizationId":"o","name":"a","mode":"test"}`, `{"name":"a","mode":"test"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := s.Read([]byte(c.body), nil)
			require.NoError(t, err)
			require.Empty(t, got.Violations)
			require.Equal(t, c.want, string(got.Body))
			require.Equal(t, c.ignored, got.Ignored)
		})
	}
}

func TestANamedBodyIsOtherwiseAsSent(t *testing.T) {
	t.Parallel()
	got := orderShape().Named([]byte(`{"name":"a","max_count":null,"x":1}`))
	require.JSONEq(t, `{"name":"a","maxCount":null}`, string(got), "a default of a later release makes no other request of it")
}

func TestAStrictReadRefusesUndocumentedNames(t *testing.T) {
	t.Parallel()
	got, err := orderShape().Read([]byte(`{"name":"a","extra":1,"id":2}`), func(name string) bool { return name != "id" })
	require.NoError(t, err)
	require.Equal(t, []fault.Field{{In: "body", Path: "/extra", Code: "unknown_field", Message: "is not a field of this request"}}, got.Violations)
	require.Equal(t, []string{"/id"}, got.Ignored)
}

func TestReadRefusesWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return `{"freeForm":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	for name, c := range map[string]struct{ body, path, code string }{
		"syntax":           {`{"name":}`, "/name", "format"},
		"a name twice":     {`{"name":"a","name":"a"}`, "/name", "ambiguous_field"},
		"twice, free-form": {`{"name":"a","freeForm":{"b":1,"b":2}}`, "/freeForm/b", "ambiguous_field"},
		"twice, unknown":   {`{"x":{"b":1,"b":2}}`, "/x/b", "ambiguous_field"},
		"UTF-8":            {"{\"name\":\"\xff\"}", "/name", "format"},
		"more":             {`{"name":"a"} {}`, "", "format"},
		"a large integer":  {`{"freeForm":[9007199254740993]}`, "/freeForm", "format"},
		"infinite":         {`{"freeForm":1e999}`, "/freeForm", "format"},
		"a long number":    {`{"freeForm":0.` + strings.Repeat("1", 70) + `}`, "/freeForm", "format"},
		"too deep":         {deep(64), strings.Repeat("/0", 62), "length"},
		"too many members": {`{"freeForm":{` + strings.Repeat(`"a":1,`, 10_000) + `"b":1}}`, "/freeForm/a", "ambiguous_field"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := orderShape().Read([]byte(c.body), nil)
			f, ok := fault.From(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, "invalid_json", f.Reason)
			require.Len(t, f.Fields, 1)
			require.Equal(t, c.code, f.Fields[0].Code)
			require.True(t, strings.HasSuffix(f.Fields[0].Path, c.path), f.Fields[0].Path)
		})
	}
	for _, cut := range []string{`{"name":"a"`, `{"name":"a`, `{"freeForm":[1,`, `[1,2`} {
		_, err := orderShape().Read([]byte(cut), nil)
		require.ErrorIs(t, err, shape.ErrCut, cut)
	}
	_, err := orderShape().Read([]byte(deep(63)+""), nil)
	require.NoError(t, err)
}

func TestMembersOfOneObjectAreBounded(t *testing.T) {
	t.Parallel()
	members := func(n int) []byte {
		var b strings.Builder
		b.WriteString(`{"name":"a","freeForm":{"x":0`)
		for i := range n - 1 {
			b.WriteString(`,"` + strings.Repeat("k", 1+i%7) + string(rune('a'+i%26)) + strings.Repeat("z", i/26%17) + itoa(i) + `":{}`)
		}
		b.WriteString(`}}`)
		return []byte(b.String())
	}
	_, err := orderShape().Read(members(10_000), nil)
	require.NoError(t, err)
	_, err = orderShape().Read(members(10_001), nil)
	f, ok := fault.From(err)
	require.True(t, ok)
	require.Equal(t, "length", f.Fields[0].Code)
	require.Equal(t, 10_000, f.Fields[0].Limit)
}

func TestASchemaThatIsNotCheckedDoesNotRegister(t *testing.T) {
	t.Parallel()
	two := 2.0
	for name, s := range map[string]*huma.Schema{
		"anyOf":      {AnyOf: []*huma.Schema{{Type: huma.TypeString}}},
		"allOf":      {AllOf: []*huma.Schema{{Type: huma.TypeString}}},
		"not":        {Not: &huma.Schema{Type: huma.TypeString}},
		"multipleOf": {Type: huma.TypeNumber, MultipleOf: &two},
		"format":     {Type: huma.TypeString, Format: "hostname"},
		"oneOf":      {OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeString}}},
		"enum":       {Type: huma.TypeInteger, Enum: []any{1}},
	} {
		require.Panics(t, func() { shape.Of(nil, s, nil) }, name)
	}
}

func TestAValueHasOneOfTheForms(t *testing.T) {
	t.Parallel()
	s := shape.Of(nil, &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, Pattern: "^[1-9]$"}, {Type: huma.TypeInteger},
	}}, nil)
	for body, code := range map[string]string{`"1"`: "", `1`: "", `"x"`: "pattern", `1.5`: "type", `{}`: "type", `null`: "type"} {
		got, err := s.Read([]byte(body), nil)
		require.NoError(t, err)
		if code == "" {
			require.Empty(t, got.Violations, body)
			continue
		}
		require.Len(t, got.Violations, 1, body)
		require.Equal(t, code, got.Violations[0].Code, body)
	}
}

func TestAShapeOfNamesRefusesNothing(t *testing.T) {
	t.Parallel()
	s := shape.Of(nil, &huma.Schema{Properties: map[string]*huma.Schema{
		"innerList": {Items: &huma.Schema{Properties: map[string]*huma.Schema{"innerName": {}}}},
	}}, nil)
	for sent, want := range map[string]string{
		`{"inner_list":[{"inner_name":1},2]}`: `{"innerList":[{"innerName":1},2]}`,
		`{"inner_list":null}`:                 `{"innerList":null}`,
		`[1]`:                                 `[1]`,
	} {
		got, err := s.Read([]byte(sent), nil)
		require.NoError(t, err)
		require.Empty(t, got.Violations)
		require.Equal(t, want, string(got.Body))
	}
}

func TestParametersAreChecked(t *testing.T) {
	t.Parallel()
	low, most := 1.0, 3
	integer := &huma.Schema{Type: huma.TypeInteger, Minimum: &low}
	for name, c := range map[string]struct {
		schema *huma.Schema
		values []string
		code   string
	}{
		"integer":     {integer, []string{"1"}, ""},
		"below":       {integer, []string{"0"}, "min"},
		"no integer":  {integer, []string{"1.5"}, "type"},
		"hexadecimal": {&huma.Schema{Type: huma.TypeNumber}, []string{"0x1p3"}, "type"},
		"not finite":  {&huma.Schema{Type: huma.TypeNumber}, []string{"NaN"}, "type"},
		"boolean":     {&huma.Schema{Type: huma.TypeBoolean}, []string{"yes"}, "type"},
		"length":      {&huma.Schema{Type: huma.TypeString, MaxLength: &most}, []string{"abcd"}, "length"},
		"time":        {&huma.Schema{Type: huma.TypeString, Format: "date-time"}, []string{"2026"}, "format"},
		"list":        {&huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Enum: []any{"a", "b"}}}, []string{"a", "c"}, "enum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := shape.Of(nil, c.schema, nil).CheckParam("query", "p", c.values...)
			if c.code == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Equal(t, c.code, got[0].Code)
			require.Equal(t, "p", got[0].Path)
		})
	}
}
