package temporal

import (
	"context"
	"reflect"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
)

// admitter gives every activity the account of the organization that its input
// names in the field Org.
type admitter struct {
	interceptor.WorkerInterceptorBase
	budget *admission.Budget
	shares *admission.Turns
}

// InterceptActivity is called for each activity.
func (a *admitter) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &admitted{interceptor.ActivityInboundInterceptorBase{Next: next}, a.budget, a.shares}
}

// admitted executes one activity.
type admitted struct {
	interceptor.ActivityInboundInterceptorBase
	budget *admission.Budget
	shares *admission.Turns
}

// ExecuteActivity opens the account and closes it when the activity has ended.
func (a *admitted) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	org, ok := organization(in.Args)
	if !ok {
		return nil, temporal.NewNonRetryableApplicationError("the input of the activity has no field Org of type principal.OrgID", "no_organization", nil)
	}
	if !a.shares.Try(org) {
		return nil, errShare
	}
	began := time.Now()
	defer func() { a.shares.End(org, time.Since(began)) }()
	account := a.budget.Activity(org)
	defer account.Close()
	return a.Next.ExecuteActivity(admission.With(ctx, account), in)
}

// errShare makes an activity whose organization has its share of the slots wait outside of
// the worker.
var errShare = temporal.NewApplicationErrorWithOptions("the organization has its share of the worker's slots", "share",
	temporal.ApplicationErrorOptions{NextRetryDelay: 2 * time.Second})

// organization is the one that the first argument names.
func organization(args []any) (org principal.OrgID, ok bool) {
	if len(args) == 0 {
		return org, false
	}
	v := reflect.Indirect(reflect.ValueOf(args[0]))
	if v.Kind() != reflect.Struct {
		return org, false
	}
	field := v.FieldByName("Org")
	if !field.IsValid() {
		return org, false
	}
	org, ok = field.Interface().(principal.OrgID)
	return org, ok
}
