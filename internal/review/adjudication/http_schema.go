package adjudication

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
)

// Schema lists the statuses.
func (Status) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(statuses...) }

// Schema lists the sources.
func (Source) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(sources...) }

// Schema lists the priorities.
func (Priority) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(priorities...) }

// Schema lists the verdicts.
func (Verdict) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(VerdictPass, VerdictFail, VerdictRevise, VerdictNotApplicable, VerdictInconclusive)
}

// Schema lists the statuses of ground truth.
func (TruthStatus) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(TruthActive, TruthSuperseded, TruthRevoked)
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AddToCalibration":           calibrationBody{},
	"AdjudicationCandidate":      candidateBody{},
	"AdjudicationCandidateInput": candidateInput{},
	"AdjudicationContent":        contentBody{},
	"AdjudicationDecision":       decisionBody{},
	"AdjudicationEntry":          entryBody{},
	"AdjudicationItem":           itemBody{},
	"AdjudicationItemList":       listBody{},
	"AdjudicationQueueSummary":   summaryBody{},
	"AdjudicationStatistics":     summaryStatistics{},
	"AdjudicationSubject":        subjectBody{},
	"AdjudicationSubjectInput":   subjectInput{},
	"AdjudicationWorkload":       workloadBody{},
	"AssignAdjudicationItem":     assignBody{},
	"CreateAdjudicationItem":     createBody{},
	"CreateGroundTruth":          truthInputBody{},
	"DatasetItemLineage":         lineageBody{},
	"DatasetItemOrigin":          originBody{},
	"DecideAdjudicationItem":     decideBody{},
	"GroundTruth":                truthBody{},
	"PromoteToGolden":            goldenBody{},
	"UpdateAdjudicationItem":     updateBody{},
}
