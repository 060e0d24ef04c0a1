package kind

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// index finds the fields of a kind, and those of every kind, by the spellings that
// callers use most: snake case and camel case.
type index struct {
	// of is the first field of the list that was indexed: a kind that is copied and given
	// other fields is indexed again.
	of *Field
	by map[string]*Field
}

// indexed gives kinds their indexes, so that nothing is written to those of the table later.
func indexed(kinds []Kind) []Kind {
	for i := range kinds {
		kinds[i].fields()
	}
	return kinds
}

// fields are the fields by those spellings.
func (k *Kind) fields() map[string]*Field {
	if k.index == nil || k.index.of != &k.Fields[0] {
		k.index = &index{&k.Fields[0], make(map[string]*Field, 2*(len(k.Fields)+len(Common)))}
		for _, list := range [][]Field{Common, k.Fields} { // a kind's own field comes first
			for j := range list {
				k.index.by[list[j].Name] = &list[j]
				if camel := Camel(list[j].Name); Snake(camel) == list[j].Name {
					k.index.by[camel] = &list[j]
				}
			}
		}
	}
	return k.index.by
}

// spelled finds the field that a quoted name means, in snake case or camel case.
func (k *Kind) spelled(quoted jsontext.Value) *Field {
	if f := k.fields()[string(quoted[1:len(quoted)-1])]; f != nil {
		return f
	}
	if lower(quoted) {
		return nil
	}
	name := unquote(quoted)
	if f := k.fields()[name]; f != nil {
		return f
	}
	return k.fields()[Snake(name)]
}

// lower reports whether a quoted name is plain and in lower case, so that it has no
// other spelling.
func lower(quoted []byte) bool {
	for _, c := range quoted {
		if c >= 'A' && c <= 'Z' || c >= 0x80 || c == '\\' {
			return false
		}
	}
	return true
}

// memberOf is the place of the member of an object that a name means; -1 if it means none.
func memberOf(members []Field, quoted jsontext.Value) int {
	called := func(name string) int { return slices.IndexFunc(members, func(f Field) bool { return f.Name == name }) }
	if i := called(string(quoted[1 : len(quoted)-1])); i >= 0 || lower(quoted) {
		return i
	}
	name := unquote(quoted)
	return max(called(name), called(Snake(name)))
}
