package dataset

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/metric"
)

// maxViolations bounds what one import reports; the edge shows at most this
// many in any case.
const maxViolations = 100

// compileSchema reads a dataset's JSON Schema; without one the result is nil.
func compileSchema(schema jsontext.Value) (*metric.Guard, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	compiled, err := metric.NewGuard(schema)
	if err != nil {
		return nil, fault.Invalid("body", "/schema", "format", err.Error())
	}
	return compiled, nil
}

// checkItems holds items against the dataset's schema and reports every
// violation with its place in a list of items.
func checkItems(schema jsontext.Value, items []Item) error {
	compiled, err := compileSchema(schema)
	if err != nil {
		return fmt.Errorf("compile stored schema: %w", err)
	}
	if compiled == nil {
		return nil
	}
	var fields []fault.Field
	for i, item := range items {
		text, err := json.Marshal(item.Content)
		if err != nil {
			return fmt.Errorf("encode item: %w", err)
		}
		place := "/items/" + strconv.Itoa(i)
		failed, err := compiled.Check(text)
		if err != nil {
			// What one of them needs is not there for those after it.
			fields = append(fields, fault.Field{In: "body", Path: place, Code: "format", Message: err.Error()})
			break
		}
		if failed != nil {
			fields = append(fields, violations(place, failed)...)
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

// checkItem is checkItems for one item that is the whole body of a request.
func checkItem(schema jsontext.Value, item Item) error {
	return alone(checkItems(schema, []Item{item}))
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

func violations(prefix string, e *jsonschema.ValidationError) []fault.Field {
	if len(e.Causes) == 0 {
		var path strings.Builder
		path.WriteString(prefix)
		for _, part := range e.InstanceLocation {
			path.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
		}
		return []fault.Field{{In: "body", Path: path.String(), Code: "format", Message: complaint(e)}}
	}
	var out []fault.Field
	for _, c := range e.Causes {
		out = append(out, violations(prefix, c)...)
	}
	return out
}

// complaint says which rule of the schema is broken, in words that repeat
// nothing of the item.
func complaint(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return "needs " + strings.Join(k.Missing, ", ")
	case *kind.Type:
		return "must be of type " + strings.Join(k.Want, " or ")
	}
	rule := strings.Join(e.ErrorKind.KeywordPath(), "/")
	if rule == "" {
		return "does not match the dataset's schema"
	}
	return "does not match the rule " + rule + " of the dataset's schema"
}
