package kind

import "github.com/go-json-experiment/json/jsontext"

// index finds the fields of a kind, and those of every kind, by the spellings that
// callers use most: snake case and camel case.
type index struct {
	// of is the first field of the list that was indexed: a kind that is copied and given
	// other fields has no index.
	of *Field
	by map[string]*Field
}

// indexed gives kinds their indexes.
func indexed(kinds []Kind) []Kind {
	for i := range kinds {
		k := &kinds[i]
		by := make(map[string]*Field, 2*(len(k.Fields)+len(Common)))
		for _, list := range [][]Field{Common, k.Fields} { // a kind's own field comes first
			for j := range list {
				by[list[j].Name] = &list[j]
				if camel := Camel(list[j].Name); Snake(camel) == list[j].Name {
					by[camel] = &list[j]
				}
			}
		}
		k.index = &index{of: &k.Fields[0], by: by}
	}
	return kinds
}

// indexed reports whether the index is that of the fields.
func (k *Kind) indexed() bool {
	return k.index != nil && len(k.Fields) > 0 && k.index.of == &k.Fields[0]
}

// spelled finds the field that a quoted name means, in snake case or camel case.
func (k *Kind) spelled(quoted jsontext.Value) *Field {
	if !k.indexed() {
		name := unquote(quoted)
		if f := k.Field(name); f != nil {
			return f
		}
		return k.Field(Snake(name))
	}
	if f := k.index.by[string(quoted[1:len(quoted)-1])]; f != nil {
		return f
	}
	if lower(quoted) {
		return nil
	}
	name := unquote(quoted)
	if f := k.index.by[name]; f != nil {
		return f
	}
	return k.index.by[Snake(name)]
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
	inner := quoted[1 : len(quoted)-1]
	for i := range members {
		if members[i].Name == string(inner) {
			return i
		}
	}
	if lower(quoted) {
		return -1
	}
	name := unquote(quoted)
	snake := Snake(name)
	for i := range members {
		if members[i].Name == name || members[i].Name == snake {
			return i
		}
	}
	return -1
}
