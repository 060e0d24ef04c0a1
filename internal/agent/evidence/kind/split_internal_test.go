package kind

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// FuzzSplit compares what takes JSON apart without checking it with the library that
// checks it.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { "a" : [ 1 , {"b":"}]\"\\"} ] , "\u00e9\\" : null }`, `[]`, `[ "a,\"b" , [ ] , { } , -1.5e3,true ]`, `{"a":{"b":[[],{}]},"c":"\\"}`, `"x y"`, `1`, ` null `,
		`{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `[1,]`, `[,]`, `{"\`, `["\`, `{"a"1}`, `{1:2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v := jsontext.Value(text)
		members, elements := Values{}, []jsontext.Value{}
		isObject := eachMember(v, func(name, value jsontext.Value) bool {
			members[unquote(name)] = value
			return true
		})
		isList := eachElement(v, func(value jsontext.Value) bool {
			elements = append(elements, value)
			return true
		})
		if !v.IsValid() {
			return // whatever was found, nothing broke
		}
		require.Equal(t, v.Kind() == '{', isObject)
		require.Equal(t, v.Kind() == '[', isList)
		if isObject {
			want := Values{}
			require.NoError(t, json.Unmarshal(v, &want))
			require.Equal(t, want, members)
		}
		if isList {
			want := []jsontext.Value{}
			require.NoError(t, json.Unmarshal(v, &want))
			require.Equal(t, want, elements)
		}
		trimmed := jsontext.Value(text[skipSpace(text, 0):])
		compacted := v.Clone()
		require.NoError(t, compacted.Compact())
		require.Equal(t, string(compacted), string(compact(v)))
		require.Equal(t, len(compacted) == len(text), tight(v))
		plain, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, string(plain), string(plainly(v)))
		if isObject || isList {
			require.Equal(t, len(trimmed), len(trimmed[:skipValue(trimmed, 0)])+spaceBehind(trimmed))
		}
	})
}

// spaceBehind counts the spaces that a text ends with.
func spaceBehind(v []byte) (n int) {
	for n < len(v) && isSpace(v[len(v)-1-n]) {
		n++
	}
	return n
}

// FuzzSpelled compares the index of a kind with a search through its fields.
func FuzzSpelled(f *testing.F) {
	for _, seed := range []string{"runtimeKey", "runtime_key", "RuntimeKey", "runtime_Key", "Runtime_key", "RUNTIME_KEY", "policyDecision_id", "n", "N", "runtime\u212aey", "sideEffectClass", "", "x"} {
		f.Add(uint8(0), seed)
		f.Add(uint8(8), seed)
	}
	f.Fuzz(func(t *testing.T, which uint8, name string) {
		k := &Kinds[int(which)%len(Kinds)]
		quoted := TextValue(name)
		name = unquote(quoted)
		want := k.Field(name)
		if want == nil {
			want = k.Field(Snake(name))
		}
		require.Same(t, want, k.spelled(quoted))
		other := *k
		other.Fields = slices.Clone(k.Fields)
		require.Equal(t, want, other.spelled(quoted))
		for _, fields := range [][]Field{toolFields, usageFields, verification.Members} {
			want := slices.IndexFunc(fields, func(m Field) bool { return m.Name == name || m.Name == Snake(name) })
			require.Equal(t, want, memberOf(fields, quoted))
		}
	})
}
