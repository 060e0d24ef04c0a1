package metric

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrUnchecked is returned for a document that cannot be held against its
// schema: it is too large, too deep, has a number of a thousand digits, or
// checking it takes more work than there is.
var ErrUnchecked = errors.New("cannot be held against the schema: it is too large, or the schema is too complex for it")

// Guard holds documents of strangers against a schema of strangers. All its
// checks together do no more work than one score may, and none of them panics.
// It is not safe for concurrent use.
type Guard struct {
	checker *checker
	work    *work
}

// NewGuard compiles a schema. The error continues the name of whatever holds
// the schema: "must be …".
func NewGuard(schema []byte) (*Guard, error) {
	c, err := newChecker(string(schema))
	if err != nil {
		return nil, err
	}
	return &Guard{checker: c, work: &work{allowance}}, nil
}

// Check returns what is wrong with a document, nil if it matches.
func (g *Guard) Check(document []byte) (*jsonschema.ValidationError, error) {
	v, err := g.work.decode(document)
	if err != nil || !modest(v) {
		return nil, ErrUnchecked
	}
	ok, err := g.checker.matches(g.work, v)
	if err != nil {
		return nil, ErrUnchecked
	}
	if ok {
		return nil, nil
	}
	return g.checker.explain(v)
}

// explain finds what is wrong with a value that does not match.
func (c *checker) explain(v any) (failed *jsonschema.ValidationError, err error) {
	c.meter = &work{complaintWork}
	defer func() {
		if recover() != nil { // as in complaint
			failed, err = nil, ErrUnchecked
		}
	}()
	if !errors.As(c.full.Validate(v), &failed) {
		return nil, ErrUnchecked
	}
	return failed, nil
}
