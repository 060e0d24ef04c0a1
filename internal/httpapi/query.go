package httpapi

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assayhq/assay/internal/fault"
)

// queryShape knows the documented query parameters of an operation.
type queryShape struct {
	names   map[string]bool
	aliases map[string]string
}

func newQueryShape(names []string) queryShape {
	q := queryShape{names: map[string]bool{}, aliases: map[string]string{}}
	for _, n := range names {
		q.names[n] = true
		if snake := snakeCase(n); snake != n {
			q.aliases[snake] = n
		}
	}
	return q
}

// normalize renames documented parameters to their documented casing, drops
// and lists the others, and refuses a parameter that has two values.
func (q queryShape) normalize(raw string) (normal string, ignored []string, err error) {
	if raw == "" {
		return "", nil, nil
	}
	values, parseErr := url.ParseQuery(raw)
	if parseErr != nil {
		return "", nil, fault.Invalid("query", "", "format", "the query string is not correctly escaped")
	}
	out := url.Values{}
	var fields []fault.Field
	for _, name := range slices.Sorted(maps.Keys(values)) {
		documented, aliased := q.aliases[name]
		if !aliased {
			documented = name
		}
		if !q.names[documented] {
			ignored = append(ignored, name)
			continue
		}
		for _, v := range values[name] {
			if strings.ContainsRune(v, 0) || !utf8.ValidString(v) {
				fields = append(fields, fault.Field{In: "query", Path: documented, Code: "format", Message: "contains U+0000 or is no UTF-8: nothing stored can match"})
				break
			}
			if out.Has(documented) && out.Get(documented) != v {
				fields = append(fields, fault.Field{In: "query", Path: documented, Code: "ambiguous_field", Message: "is given twice with different values"})
				break
			}
			out.Set(documented, v)
		}
	}
	if len(fields) > 0 {
		return "", nil, errInvalid.WithFields(fields...)
	}
	return out.Encode(), ignored, nil
}

// headerList joins names that a caller sent into a header value that cannot
// break the response: escaped, and cut after a few hundred bytes.
func headerList(names []string) string {
	const limit = 512
	var b strings.Builder
	for _, n := range names {
		escaped := strings.ReplaceAll(url.PathEscape(n), "%2F", "/")
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if b.Len()+len(escaped) > limit {
			b.WriteString("...")
			break
		}
		b.WriteString(escaped)
	}
	return b.String()
}
