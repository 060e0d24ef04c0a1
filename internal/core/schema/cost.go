package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	errSchemaLoop    = errors.New("must be a JSON Schema, and this one refers to itself without going deeper into the value")
	errSchemaChain   = fmt.Errorf("must be a JSON Schema in which no more than %d schemas stand one inside the other for one value", maxSchemaChain)
	errSchemaParts   = fmt.Errorf("must be a JSON Schema of at most %d parts", maxSubschemas)
	errSchemaDynamic = errors.New("must be a JSON Schema without $dynamicRef and $recursiveRef")
)

// survey looks at a compiled schema before its first use: whether it has a shape
// that can be worked with, and what meeting each of its parts costs. It leaves a
// meter in every part.
//
// A schema of a few lines can ask for more checks than there are atoms, as each
// part may send the same value through two others. Counting is the only way to
// know, so every part counts when a value meets it, before it does anything that
// the count of the part above does not hold already.
func survey(c *checker) error {
	parts := []*jsonschema.Schema{c.fails}
	seen := map[*jsonschema.Schema]bool{c.fails: true}
	for i := 0; i < len(parts); i++ {
		if parts[i].DynamicRef != nil || parts[i].RecursiveRef != nil {
			return errSchemaDynamic
		}
		for _, sub := range append(inPlace(parts[i]), deeper(parts[i])...) {
			if !seen[sub] {
				seen[sub] = true
				parts = append(parts, sub)
			}
		}
		if len(parts) > maxSubschemas {
			return errSchemaParts
		}
	}
	chains := map[*jsonschema.Schema]int{}
	for _, part := range parts {
		if err := chain(part, chains); err != nil {
			return err
		}
	}
	prices := make([]price, len(parts))
	for i, part := range parts {
		prices[i] = priceOf(part)
	}
	for i, part := range parts {
		c.putMeter(part, prices[i])
	}
	return nil
}

// chain finds how many schemas a value meets from this one on before the value
// is left for what is inside it.
func chain(part *jsonschema.Schema, known map[*jsonschema.Schema]int) error {
	const underway = -1
	switch length, found := known[part]; {
	case found && length == underway:
		return errSchemaLoop
	case found:
		return nil
	}
	known[part] = underway
	longest := 0
	for _, sub := range inPlace(part) {
		if err := chain(sub, known); err != nil {
			return err
		}
		longest = max(longest, known[sub])
	}
	if longest >= maxSchemaChain {
		return errSchemaChain
	}
	known[part] = longest + 1
	return nil
}

// putMeter makes a part count. The check of a format is the first thing that the
// library does once a value has the right type and is one of those listed.
func (c *checker) putMeter(part *jsonschema.Schema, p price) {
	if part.Bool != nil {
		return
	}
	format := part.Format
	metered := &jsonschema.Format{Name: "metered", Validate: func(v any) error {
		if !c.meter.Spend(p.of(v)) {
			panic(spent{})
		}
		if format == nil {
			return nil
		}
		return format.Validate(v)
	}}
	if format != nil {
		metered.Name = format.Name
	}
	part.Format = metered
}

// price is what meeting a part of a schema costs.
type price struct {
	fixed    int64 // the parts inside that meet the same value
	perByte  int64 // of a string
	perChild int64 // of a list or an object
	number   int64
	unique   bool
}

// entry is what a part costs before its meter is reached.
func entry(part *jsonschema.Schema) int64 {
	cost := int64(1_000)
	if part.Types != nil {
		cost += 1_000 // whether a number is an integer
	}
	if part.Const != nil {
		cost += weigh(*part.Const)
	}
	if part.Enum != nil {
		for _, v := range part.Enum.Values {
			cost += weigh(v)
		}
	}
	return cost
}

func priceOf(part *jsonschema.Schema) price {
	p := price{fixed: 200, perByte: 10, perChild: 300, unique: part.UniqueItems}
	p.fixed += 50 * int64(len(part.Required)+len(part.DependentRequired)+len(part.Dependencies))
	for _, sub := range inPlace(part) {
		p.fixed += entry(sub)
	}
	for _, names := range part.DependentRequired {
		p.fixed += 50 * int64(len(names))
	}
	if part.Format != nil {
		p.perByte += 100
	}
	if re, ok := part.Pattern.(*Pattern); ok {
		p.perByte += costMatch * re.size
	}
	if part.Minimum != nil || part.Maximum != nil || part.ExclusiveMinimum != nil || part.ExclusiveMaximum != nil || part.MultipleOf != nil {
		p.number = 10_000
	}
	// Every child meets at most one of the parts with a name or a position, and
	// all the others.
	var one int64
	for _, sub := range oneChild(part) {
		one = max(one, entry(sub))
	}
	p.perChild += one
	for re, sub := range part.PatternProperties {
		p.perChild += entry(sub)
		if re, ok := re.(*Pattern); ok {
			p.perChild += costMatch * re.size * 32 // bytes of a name
		}
	}
	for _, sub := range everyChild(part) {
		p.perChild += entry(sub)
	}
	return p
}

func (p price) of(v any) int64 {
	switch v := v.(type) {
	case string:
		return p.fixed + p.perByte*int64(len(v))
	case json.Number:
		return p.fixed + p.number
	case []any:
		cost := p.fixed + p.perChild*int64(len(v))
		if p.unique {
			per := int64(1)
			if len(v) <= 20 {
				per = 10 // few are compared each with each
			}
			for _, e := range v {
				cost += per * weigh(e)
			}
		}
		return cost
	case map[string]any:
		cost := p.fixed + p.perChild*int64(len(v))
		for name := range v {
			if len(name) > 32 {
				cost += p.perChild * int64(len(name)/32)
			}
		}
		return cost
	default:
		return p.fixed
	}
}

// weigh is what comparing a value with another costs.
func weigh(v any) int64 {
	switch v := v.(type) {
	case string:
		return 50 + int64(len(v))
	case []any:
		cost := int64(50)
		for _, e := range v {
			cost += weigh(e)
		}
		return cost
	case map[string]any:
		cost := int64(50)
		for name, e := range v {
			cost += 200 + int64(len(name)) + weigh(e)
		}
		return cost
	default:
		return 800
	}
}

// inPlace lists the parts that meet the same value as the part itself.
func inPlace(part *jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, sub := range []*jsonschema.Schema{part.Ref, part.Not, part.If, part.Then, part.Else} {
		out = add(out, sub)
	}
	for _, list := range [][]*jsonschema.Schema{part.AllOf, part.AnyOf, part.OneOf} {
		out = append(out, list...)
	}
	for _, sub := range part.DependentSchemas {
		out = append(out, sub)
	}
	for _, d := range part.Dependencies {
		sub, _ := d.(*jsonschema.Schema)
		out = add(out, sub)
	}
	return out
}

// deeper lists the parts that meet what is inside the value.
func deeper(part *jsonschema.Schema) []*jsonschema.Schema {
	out := append(everyChild(part), oneChild(part)...)
	for _, sub := range part.PatternProperties {
		out = append(out, sub)
	}
	return out
}

// oneChild lists the parts that meet a child by its name or position.
func oneChild(part *jsonschema.Schema) []*jsonschema.Schema {
	out := slices.Clone(part.PrefixItems)
	for _, sub := range part.Properties {
		out = append(out, sub)
	}
	if items, ok := part.Items.([]*jsonschema.Schema); ok {
		out = append(out, items...)
	}
	return out
}

// everyChild lists the parts that may meet each child of a list or an object.
func everyChild(part *jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, sub := range []*jsonschema.Schema{part.PropertyNames, part.UnevaluatedProperties, part.Contains, part.Items2020, part.UnevaluatedItems, part.ContentSchema} {
		out = add(out, sub)
	}
	for _, v := range []any{part.AdditionalProperties, part.Items, part.AdditionalItems} {
		sub, _ := v.(*jsonschema.Schema)
		out = add(out, sub)
	}
	return out
}

func add(list []*jsonschema.Schema, s *jsonschema.Schema) []*jsonschema.Schema {
	if s == nil {
		return list
	}
	return append(list, s)
}
