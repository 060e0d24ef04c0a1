package trace

import (
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/actdb"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/herald"
)

// TopicArrived is published with an Arrived for each period in which telemetry arrives.
const TopicArrived = herald.Topic

// Arrived says that telemetry of an organization arrives in a period.
type Arrived = herald.Arrived

// Acts are the calls of tools, changes of memory, failed steps and scores of some traces.
func (s *Service) Acts(org principal.OrgID, ids []span.TraceID) *actdb.Reader {
	return s.store.acts.Of(org, ids)
}
