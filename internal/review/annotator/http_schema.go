package annotator

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Schema lists what can stand out about the work of a person.
func (Flag) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(FlagBelowChance, FlagExcluded, FlagLowersAgreement, FlagOneLabel, FlagFailsGold)
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AnnotationAgreement":      agreementBody{},
	"AnnotationAgreementPair":  pairBody{},
	"AnnotationAudit":          auditBody{},
	"AnnotationConsensus":      consensusBody{},
	"AnnotationGold":           goldBody{},
	"AnnotationHardItem":       hardBody{},
	"AnnotationLabelAgreement": specificBody{},
	"AnnotationQuality":        qualityBody{},
	"AnnotationQualityOnGold":  annotatorGold{},
	"Estimate":                 stat.Estimate{},
	"OptionalEstimate":         stat.Optional{},
}
