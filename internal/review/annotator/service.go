package annotator

import (
	"time"

	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Tenancy     *tenancy.Service
	Annotations *annotation.Service
	Now         func() time.Time
}

// Service measures the people of annotation tasks.
type Service struct {
	tenancy     *tenancy.Service
	annotations *annotation.Service
	now         func() time.Time
}

// New makes the service.
func New(p Parts) *Service {
	return &Service{tenancy: p.Tenancy, annotations: p.Annotations, now: func() time.Time { return p.Now().Truncate(time.Millisecond) }}
}
