package engine

import (
	"maps"
	"slices"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/ast"
)

// CedarSchema is the vocabulary in Cedar's language of schemas, for editors. Its records are
// closed, as Cedar has them, while arguments, facts and what callers send are free. A type whose
// ids are all known lists them.
func CedarSchema(tools, runtimes []string) (string, error) {
	context := ast.RecordType{}
	for _, a := range Context {
		context[types.String(a.Name)] = ast.Attribute{Type: cedarType(a.Type), Optional: a.Optional}
	}
	s := ast.Schema{
		Entities: ast.Entities{}, Enums: ast.Enums{},
		Actions: ast.Actions{ToolCall: ast.Action{AppliesTo: &ast.AppliesTo{
			Principals: []ast.EntityTypeRef{"Runtime"}, Resources: []ast.EntityTypeRef{"Tool"}, Context: context,
		}}},
	}
	for name, ids := range map[ast.Ident][]string{"Runtime": runtimes, "Tool": tools} {
		if len(ids) == 0 {
			s.Entities[name] = ast.Entity{}
			continue
		}
		known := map[types.String]bool{}
		for _, id := range ids {
			known[types.String(id)] = true
		}
		s.Enums[name] = ast.Enum{Values: slices.Sorted(maps.Keys(known))}
	}
	text, err := schema.NewSchemaFromAST(&s).MarshalCedar()
	return string(text), err
}

func cedarType(name string) ast.IsType {
	switch name {
	case typeDecimal:
		return ast.Decimal()
	case typeRecord:
		return ast.RecordType{}
	default:
		return ast.String()
	}
}
