package dataset

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/schema"
)

// maxViolations bounds what one import reports; the edge shows at most this
// many in any case.
const maxViolations = 100

// compileSchema reads a dataset's JSON Schema; without one the result is nil.
func compileSchema(text jsontext.Value) (*schema.Schema, error) {
	if len(text) == 0 {
		return nil, nil
	}
	compiled, err := schema.Compile(string(text))
	if err != nil {
		return nil, fault.Invalid("body", "/schema", "format", err.Error())
	}
	return compiled, nil
}

// checkItems holds encoded items against the dataset's schema and reports every
// violation with its place in a list of items. Pause is called before each, and
// an error of it ends the work.
func checkItems(pause func() error, of jsontext.Value, items []encodedItem) error {
	compiled, err := compileSchema(of)
	if err != nil {
		return fmt.Errorf("compile stored schema: %w", err)
	}
	if compiled == nil {
		return nil
	}
	var fields []fault.Field
	work := schema.NewWork()
	for i, item := range items {
		if err := pause(); err != nil {
			return err
		}
		place := "/items/" + strconv.Itoa(i)
		wrong, ok := check(compiled, &work, []byte(item.text))
		if !ok {
			// What one of them needs is not there for those after it.
			fields = append(fields, fault.Field{In: "body", Path: place, Code: "format", Message: unchecked})
			break
		}
		for _, v := range wrong {
			fields = append(fields, fault.Field{In: "body", Path: place + v.Pointer, Code: "format", Message: complaint(v)})
		}
		if len(fields) >= maxViolations {
			break
		}
	}
	if len(fields) > 0 {
		return fault.New(fault.Validation, "schema_mismatch", "Some items do not match the dataset's schema.").WithFields(fields...)
	}
	return nil
}

// unchecked continues the name of an item that is too large or too deep, has a
// number of a thousand digits, or takes more work than there is.
const unchecked = "cannot be held against the schema: it is too large, or the schema is too complex for it"

// check returns what is wrong with an item, and whether it could be checked.
func check(compiled *schema.Schema, work *schema.Work, item []byte) ([]schema.Violation, bool) {
	v, err := work.Decode(item)
	if err != nil {
		return nil, false
	}
	matches, wrong, err := compiled.Check(work, v)
	return wrong, err == nil && (matches || len(wrong) > 0)
}

// alone names the violations of a list's only item from the root of the body.
func alone(err error) error {
	f, ok := fault.From(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	root := *f
	root.Fields = nil
	for _, field := range f.Fields {
		field.Path = strings.TrimPrefix(field.Path, "/items/0")
		root.Fields = append(root.Fields, field)
	}
	return &root
}

// complaint says which rule of the schema is broken, in words that repeat
// nothing of the item.
func complaint(v schema.Violation) string {
	switch {
	case len(v.Missing) > 0:
		return "needs " + strings.Join(v.Missing, ", ")
	case len(v.Want) > 0:
		return "must be of type " + strings.Join(v.Want, " or ")
	case v.Rule == "":
		return "does not match the dataset's schema"
	}
	return "does not match the rule " + v.Rule + " of the dataset's schema"
}
