package httpapi

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/assayhq/assay/internal/fault"
)

// rules rewords the framework's validation messages and says which code of the
// interface each belongs to. The text before the first verb is how a message
// is recognised again, so no text may be the beginning of another one's.
var rules = []struct {
	message *string
	code    string
	text    string
}{
	{&validation.MsgUnexpectedProperty, "unknown_field", "is not a field of this request"},
	{&validation.MsgExpectedRequiredProperty, "required", "is required: %s"},
	{&validation.MsgExpectedDependentRequiredProperty, "required", "is required together with another field: %s %s"},

	{&validation.MsgExpectedBoolean, "type", "must be true or false"},
	{&validation.MsgExpectedNumber, "type", "must be a number"},
	{&validation.MsgExpectedInteger, "type", "must be an integer"},
	{&validation.MsgExpectedString, "type", "must be a string"},
	{&validation.MsgExpectedArray, "type", "must be an array"},
	{&validation.MsgExpectedObject, "type", "must be an object"},

	{&validation.MsgExpectedOneOf, "enum", "must be one of: %s"},
	{&validation.MsgExpectedConst, "enum", "must be exactly %v"},

	{&validation.MsgExpectedMinimumNumber, "min", "must be at least %v"},
	{&validation.MsgExpectedExclusiveMinimumNumber, "min", "must be greater than %v"},
	{&validation.MsgExpectedMaximumNumber, "max", "must be at most %v"},
	{&validation.MsgExpectedExclusiveMaximumNumber, "max", "must be less than %v"},
	{&validation.MsgExpectedNumberBeMultipleOf, "format", "must be a multiple of %v"},

	{&validation.MsgExpectedMinLength, "length", "must have a length of at least %d"},
	{&validation.MsgExpectedMaxLength, "length", "must have a length of at most %d"},
	{&validation.MsgExpectedMinItems, "length", "must have no fewer entries than %d"},
	{&validation.MsgExpectedMaxItems, "length", "must have no more entries than %d"},
	{&validation.MsgExpectedMinProperties, "length", "must have no fewer members than %d"},
	{&validation.MsgExpectedMaxProperties, "length", "must have no more members than %d"},
	{&validation.MsgExpectedArrayItemsUnique, "format", "must not repeat an entry"},

	{&validation.MsgExpectedBePattern, "pattern", "must have the form: %s"},
	{&validation.MsgExpectedMatchPattern, "pattern", "must match the pattern %s"},

	{&validation.MsgExpectedRFC3339DateTime, "format", "must be an RFC 3339 date and time such as 2026-01-31T12:00:00Z"},
	{&validation.MsgExpectedRFC1123DateTime, "format", "must be an RFC 1123 date and time"},
	{&validation.MsgExpectedRFC3339Date, "format", "must be a date such as 2026-01-31"},
	{&validation.MsgExpectedRFC3339Time, "format", "must be a time such as 12:00:00Z"},
	{&validation.MsgExpectedRFC5322Email, "format", "must be an e-mail address: %v"},
	{&validation.MsgExpectedRFC5322EmailBare, "format", "must be a bare e-mail address"},
	{&validation.MsgExpectedRFC5890Hostname, "format", "must be a host name"},
	{&validation.MsgExpectedRFC2673IPv4, "format", "must be an IPv4 address"},
	{&validation.MsgExpectedRFC2373IPv6, "format", "must be an IPv6 address"},
	{&validation.MsgExpectedRFCIPAddr, "format", "must be an IP address"},
	{&validation.MsgExpectedRFC3986URI, "format", "must be a URI: %v"},
	{&validation.MsgExpectedRFC3986AbsoluteURI, "format", "must be an absolute URI"},
	{&validation.MsgExpectedRFC4122UUID, "format", "must be a UUID: %v"},
	{&validation.MsgExpectedRFC6570URITemplate, "format", "must be a URI template"},
	{&validation.MsgExpectedRFC6901JSONPointer, "format", "must be a JSON Pointer"},
	{&validation.MsgExpectedRFC6901RelativeJSONPointer, "format", "must be a relative JSON Pointer"},
	{&validation.MsgExpectedRegexp, "format", "must be a regular expression: %v"},
	{&validation.MsgExpectedDuration, "format", "must be a duration: %v"},
	{&validation.MsgExpectedBase64String, "format", "must be base64"},

	{&validation.MsgExpectedMatchAtLeastOneSchema, "type", "must have one of the documented forms"},
	{&validation.MsgExpectedMatchExactlyOneSchema, "type", "must have exactly one of the documented forms"},
	{&validation.MsgExpectedNotMatchSchema, "type", "must not have this form"},
	{&validation.MsgExpectedResolvableSchemaRef, "format", "has a form that cannot be checked: %s"},
	{&validation.MsgExpectedPropertyNameInObject, "required", "must name its kind"},
}

func init() {
	for _, r := range rules {
		*r.message = r.text
	}
}

// toField translates one violation. Only bounds and names that the schema
// itself contains are repeated; what the caller sent is not.
func toField(d *huma.ErrorDetail) fault.Field {
	in, path := location(d.Location)
	f := fault.Field{In: in, Path: path, Code: "format", Message: "cannot be read as its type"}
	for _, r := range rules {
		head, tail, _ := strings.Cut(r.text, "%")
		if !strings.HasPrefix(d.Message, head) || (tail == "" && d.Message != head) {
			continue
		}
		f.Code, f.Message = r.code, d.Message
		rest := strings.TrimPrefix(d.Message, head)
		switch r.code {
		case "required":
			name, _, _ := strings.Cut(rest, " ")
			f.Path, f.Message = path+"/"+name, "is required"
		case "min", "max", "length":
			if n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
				f.Limit = n
			}
		case "format":
			// What follows is a parser's own words about the value.
			f.Message = strings.TrimSuffix(strings.TrimSpace(head), ":")
		}
		return f
	}
	if strings.HasPrefix(d.Message, "required ") && strings.HasSuffix(d.Message, " parameter is missing") {
		f.Code, f.Message = "required", "is required"
	} else if in != "body" {
		f.Code, f.Message = "type", "cannot be read as its type"
	}
	return f
}

// location splits the framework's "body.items[3].weight" into the part of the
// request and a JSON Pointer, or a parameter's name.
func location(loc string) (in, path string) {
	in, rest, _ := strings.Cut(loc, ".")
	if index, ok := strings.CutPrefix(loc, "body["); ok {
		in, rest = "body", "["+index // the body itself is an array
	}
	if in != "body" {
		name, _, _ := strings.Cut(rest, "[") // one value of a repeated parameter
		return in, name
	}
	var b strings.Builder
	for part := range strings.SplitSeq(rest, ".") {
		for i, p := range strings.Split(part, "[") {
			p = strings.TrimSuffix(p, "]")
			if i == 0 && p == "" {
				continue
			}
			b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
		}
	}
	return in, b.String()
}
