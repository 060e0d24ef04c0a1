package httpapi

import (
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/fault"
)

// IfMatch lets an update say which version it means to change.
type IfMatch struct {
	Header string `header:"If-Match" doc:"The ETag of the version to change; if the resource has another version, the request fails with 409 version_conflict."`
}

// Expected returns the version that the caller expects, from the header or the
// body's expectedVersion; zero means any.
func (m IfMatch) Expected(inBody int64) (int64, error) {
	if m.Header == "" || m.Header == "*" {
		return inBody, nil
	}
	text, ok := strings.CutPrefix(strings.TrimPrefix(m.Header, "W/"), `"v`)
	text, quoted := strings.CutSuffix(text, `"`)
	n, isVersion := ParseID(text)
	if !ok || !quoted || !isVersion {
		return 0, fault.Invalid("header", "If-Match", "format", `must be an ETag of this resource, such as "v3"`)
	}
	if inBody != 0 && inBody != n {
		return 0, fault.Invalid("body", "/expectedVersion", "ambiguous_field", "differs from If-Match")
	}
	return n, nil
}

// ETag is the entity tag of a version.
func ETag(version int64) string { return `"v` + strconv.FormatInt(version, 10) + `"` }
