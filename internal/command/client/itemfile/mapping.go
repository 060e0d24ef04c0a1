package itemfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/core/fault"
)

// Mapping says which field of an item each column becomes. An empty field leaves
// the column out.
type Mapping map[string]string

// fields are those of an item. Values of the first list may be texts, and may be put
// together from several columns.
var (
	textFields  = []string{"input", "expectedOutput", "output", "context", "labels"}
	valueFields = []string{"messages", "tools", "assertions", "split", "weight"}
	plainFields = slices.Concat(valueFields, []string{"sourceType", "sourceId"})
)

// aliases are what columns are commonly called.
var aliases = map[string]string{
	"expected": "expectedOutput", "expectedanswer": "expectedOutput", "expectedoutput": "expectedOutput", "groundtruth": "expectedOutput", "reference": "expectedOutput",
	"question": "input", "query": "input", "prompt": "input", "label": "labels", "metadata": "labels",
	"sourcetype": "sourceType", "sourceid": "sourceId",
}

// ParseMapping reads assignments such as question=input or topic=labels.topic.
func ParseMapping(assignments []string) (Mapping, error) {
	m := Mapping{}
	for _, text := range assignments {
		column, field, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("cannot read the mapping %q: write COLUMN=FIELD, such as question=input, or COLUMN= to leave a column out", text)
		}
		if err := checkField(field); err != nil {
			return nil, fmt.Errorf("the mapping %q: %w", text, err)
		}
		if _, twice := m[column]; twice {
			return nil, fmt.Errorf("the column %q is mapped twice", column)
		}
		m[column] = field
	}
	return m, nil
}

func checkField(field string) error {
	name, part, nested := strings.Cut(field, ".")
	switch {
	case field == "" || slices.Contains(plainFields, field) || slices.Contains(textFields, name) && (!nested || part != ""):
		return nil
	case nested && slices.Contains(plainFields, name):
		return fmt.Errorf("%s has no parts", name)
	}
	all := slices.Concat(textFields, plainFields)
	if closest := fault.Nearest(name, all); closest != "" {
		return fmt.Errorf("an item has no field %q: did you mean %s?", name, closest)
	}
	return fmt.Errorf("an item has no field %q: use %s", name, strings.Join(all, ", "))
}

// joints are what names are written with that are otherwise the same.
var joints = strings.NewReplacer("_", "", " ", "", "-", "")

// field is what a column becomes, and whether anybody knows.
func (m Mapping) field(column string) (string, bool) {
	if field, ok := m[column]; ok {
		return field, true
	}
	plain := strings.ToLower(joints.Replace(column))
	for _, field := range slices.Concat(textFields, plainFields) {
		if strings.ToLower(field) == plain {
			return field, true
		}
	}
	field, ok := aliases[plain]
	return field, ok
}

// suggested is the field that a column may be meant for. An answer is as likely
// what was expected as what was given, so that the caller has to say.
func suggested(column string) string {
	if strings.EqualFold(column, "answer") {
		return "expectedOutput"
	}
	return "labels." + column
}

// place is where a column's values go.
type place struct{ field, part string }

// places finds where each column goes. Columns that nobody knows, and mappings of
// columns that are not there, are errors.
func (m Mapping) places(columns []string) ([]place, error) {
	var errs []error
	all := make([]place, len(columns))
	taken := map[string]string{}
	for i, column := range columns {
		field, known := m.field(column)
		if !known {
			errs = append(errs, fmt.Errorf("the column %q is not a field of an item: map it with --map %s=%s, or leave it out with --map %s=", column, column, suggested(column), column))
			continue
		}
		all[i] = placeOf(field)
		if field == "" {
			continue
		}
		if other, twice := taken[field]; twice {
			errs = append(errs, fmt.Errorf("the columns %q and %q both become %s: map one of them to a part, such as %s.%s", other, column, field, field, column))
		}
		taken[field] = column
	}
	for _, field := range slices.Sorted(maps.Keys(taken)) {
		if name, _, nested := strings.Cut(field, "."); nested && taken[name] != "" {
			errs = append(errs, fmt.Errorf("the column %q becomes the whole of %s, and %q a part of it", taken[name], name, taken[field]))
		}
	}
	for column := range m {
		if !slices.Contains(columns, column) {
			hint := ""
			if closest := fault.Nearest(column, columns); closest != "" {
				hint = fmt.Sprintf(": did you mean %s?", closest)
			}
			errs = append(errs, fmt.Errorf("the file has no column %q%s", column, hint))
		}
	}
	if len(errs) == 0 && !slices.ContainsFunc(all, func(p place) bool { return p.field == "input" }) {
		errs = append(errs, errors.New("no column becomes the input: map one, such as --map question=input"))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return all, errors.Join(errs...)
}
