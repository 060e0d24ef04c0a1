package evidence

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
)

// Schema lists what can become of an event.
func (Status) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(Accepted, Duplicate, Unmapped, Rejected)
}

// Schema lists which events can be read again.
func (Again) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(Outdated, Every) }

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"EvidenceAction":               actionBody{},
	"EvidenceAttention":            attentionBody{},
	"EvidenceEnvelope":             envelopeBody{},
	"EvidenceEnvelopeDefaults":     defaultsBody{},
	"EvidenceEnvelopeOptions":      optionsBody{},
	"EvidenceEventResult":          outcomeBody{},
	"EvidenceIngestResult":         ingestBody{},
	"EvidenceKind":                 kindBody{},
	"EvidenceList":                 listBody{},
	"EvidenceMark":                 markBody{},
	"EvidenceNormalization":        normalizationBody{},
	"EvidenceNormalizationRequest": normalizationRequest{},
	"EvidenceOverview":             overviewBody{},
	"EvidenceProducer":             producerBody{},
	"EvidenceReference":            refBody{},
	"EvidenceSeverities":           severitiesBody{},
	"EvidenceTimeline":             timelineBody{},
	"EvidenceTimelineEntry":        entryBody{},
}
