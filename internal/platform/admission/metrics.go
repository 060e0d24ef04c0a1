package admission

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Reasons of a refusal: the organization has its share, or the process is full.
var (
	share = metric.WithAttributeSet(attribute.NewSet(attribute.String("reason", "share")))
	full  = metric.WithAttributeSet(attribute.NewSet(attribute.String("reason", "full")))
)

var refusals, _ = otel.Meter("github.com/assayhq/assay/internal/platform/admission").
	Int64Counter("assay.admission.refused", metric.WithDescription("Requests for bytes or processor time that were refused."))

func refused(reason metric.AddOption) { refusals.Add(context.Background(), 1, reason) }
