package evidence

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/httpapi"
)

// Schema lists what can become of an event.
func (Fate) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(Accepted, Duplicate, Unmapped, Rejected)
}

// primitive is a type of step.
type primitive string

// Schema lists the types of steps.
func (primitive) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, p := range kind.Primitives {
		s.Enum = append(s.Enum, p)
	}
	return s
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"EvidenceAction":           actionBody{},
	"EvidenceAttention":        attentionBody{},
	"EvidenceEnvelope":         envelopeBody{},
	"EvidenceEnvelopeDefaults": defaultsBody{},
	"EvidenceEnvelopeOptions":  optionsBody{},
	"EvidenceEventResult":      outcomeBody{},
	"EvidenceIngestResult":     ingestBody{},
	"EvidenceKind":             kindBody{},
	"EvidenceList":             listBody{},
	"EvidenceMark":             markBody{},
	"EvidenceOverview":         overviewBody{},
	"EvidenceProducer":         producerBody{},
	"EvidenceReference":        refBody{},
	"EvidenceSeverities":       severitiesBody{},
	"EvidenceTemplate":         templateBody{},
	"EvidenceTemplateApproval": templateApprovalBody{},
	"EvidenceTemplateEvidence": templateEvidenceBody{},
	"EvidenceTemplateList":     templatesBody{},
	"EvidenceTemplateRisk":     templateRiskBody{},
	"EvidenceTemplateRule":     templateRuleBody{},
	"EvidenceTemplateStep":     templateStepBody{},
	"EvidenceTimeline":         timelineBody{},
	"EvidenceTimelineEntry":    entryBody{},
}
