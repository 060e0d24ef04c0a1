package httpapi

import (
	"context"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// Register adds an operation. The handler's input and output types are its
// contract: parameters, body, bounds and documentation are read from them.
func Register[I, O any](e *Edge, op Op, handler func(context.Context, *I) (*O, error)) {
	if op.Raw {
		panic("httpapi: " + op.ID + " is raw; add it with Handle")
	}
	if op.BodyLimit == 0 {
		op.BodyLimit = DefaultBodyLimit
	}
	d := huma.Operation{
		OperationID:   op.ID,
		Method:        op.Method,
		Path:          op.Path,
		Summary:       op.Summary,
		Description:   op.Description,
		Tags:          []string{op.Tag},
		DefaultStatus: op.Status,
		MaxBodyBytes:  -1, // the edge has read the body by then
		// The gate has checked both.
		SkipValidateParams: true,
		SkipValidateBody:   true,
	}
	if op.ContentType != "" {
		d.Responses = map[string]*huma.Response{strconv.Itoa(op.Status): {
			Content: map[string]*huma.MediaType{op.ContentType: {Schema: contentSchema(e.api.OpenAPI().Components.Schemas, op.ContentType)}},
		}}
	}
	d.Security = op.security()
	if op.Mutates() {
		d.Parameters = append(d.Parameters, idempotencyParam())
	}
	gate := &gate{edge: e, op: op}
	d.Middlewares = huma.Middlewares{gate.serve}
	huma.Register(e.api, d, func(ctx context.Context, in *I) (*O, error) {
		gate.hand(ctx, reflect.ValueOf(in).Elem())
		if c, ok := any(in).(Checker); ok {
			if err := c.Check(ctx); err != nil {
				return nil, err
			}
		}
		if otherOrg, _ := ctx.Value(otherOrgKey{}).(bool); otherOrg {
			return nil, errOtherOrg // what the request says is valid; now whether it may
		}
		if err := op.Permit(ctx); err != nil {
			return nil, err
		}
		if err := op.inPerson(ctx, in); err != nil {
			return nil, err
		}
		return handler(ctx, in)
	})
	op.describe(findOperation(e.api.OpenAPI(), op.Method, op.Path).Responses, any(*new(O)))
	gate.learn(e.api, reflect.TypeFor[I]())
	e.add(op)
}
