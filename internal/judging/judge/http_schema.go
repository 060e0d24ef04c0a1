package judge

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Schema lists the statuses.
func (Status) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(StatusDraft, StatusActive, StatusRetired)
}

// Schema lists the types of scales.
func (ScaleType) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(ScaleBinary, ScaleNumeric, ScaleLikert, ScaleCategorical)
}

// Schema lists the ways to choose items for labels.
func (Sampling) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(SamplingUnknown, SamplingRandom)
}

// Schema lists the statuses of results.
func (VerdictStatus) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(VerdictCompleted, VerdictFailed, VerdictAbstained)
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AgreementAdvantage":       agreement.Advantage{},
	"AgreementClass":           agreement.Class{},
	"AgreementKappas":          agreement.Kappas{},
	"AgreementNumeric":         agreement.Numeric{},
	"AgreementOfLabels":        agreement.Alignment{},
	"AgreementOfRaters":        agreement.Raters{},
	"AgreementRates":           agreement.Rates{},
	"AgreementReplacement":     agreement.Replacement{},
	"AgreementVerdict":         agreement.Verdict{},
	"CalibrationBin":           correction.Bin{},
	"CalibrationCheck":         correction.Check{},
	"CorrectedEstimate":        correction.Hybrid{},
	"CorrectedMean":            correction.Corrected{},
	"CreateJudgeConfig":        createBody{},
	"Estimate":                 stat.Estimate{},
	"Interval":                 stat.Interval{},
	"FigureComparison":         stat.Comparison{},
	"ComparisonFamily":         stat.Family{},
	"ItemsForDifference":       stat.ItemsFor{},
	"MissingScores":            stat.Missing{},
	"Resolution":               stat.Resolution{},
	"ComparisonTests":          stat.Tests{},
	"VarianceComponents":       stat.Variance{},
	"Verdict":                  stat.Verdict{},
	"SliceComparison":          stat.SliceComparison{},
	"OptionalEstimate":         stat.Optional{},
	"EvaluateWithJudge":        evaluateBody{},
	"JudgeAlignment":           alignmentBody{},
	"JudgeAlignmentIntervals":  alignmentCI{},
	"JudgeAlignmentList":       alignmentListBody{},
	"JudgeAlignmentRuling":     rulingBody{},
	"JudgeAlignmentStatistics": alignmentStatistics{},
	"JudgeAlignmentThresholds": thresholdsBody{},
	"JudgeCalibration":         correction.Calibration{},
	"JudgeConfusion":           confusionBody{},
	"JudgeDisagreement":        disagreementBody{},
	"JudgeRoute":               correction.Route{},
	"JudgeRouteStep":           correction.Step{},
	"CalibrationSigmoid":       correction.Sigmoid{},
	"CalibrationSteps":         correction.Steps{},
	"JudgeAnchor":              anchorBody{},
	"JudgeAnchorInput":         anchorInput{},
	"JudgeConfig":              configBody{},
	"JudgeConfigList":          listBody{},
	"JudgeConfigVersion":       versionBody{},
	"JudgeConfigVersionList":   listVersionsBody{},
	"JudgeCriterion":           criterionBody{},
	"JudgeCriterionInput":      criterionInput{},
	"JudgeCriterionScore":      criterionScoreBody{},
	"JudgeExample":             exampleBody{},
	"JudgeExampleInput":        exampleInput{},
	"JudgeLabel":               labelBody{},
	"JudgeLabelInput":          labelInput{},
	"JudgeNextLabel":           nextLabelBody{},
	"JudgeNextLabels":          nextLabelsBody{},
	"JudgeResult":              resultBody{},
	"JudgeResultError":         resultError{},
	"JudgeResultList":          listResultsBody{},
	"JudgeScale":               scaleBody{},
	"JudgeScaleInput":          scaleInput{},
	"JudgeStarter":             starterBody{},
	"JudgeStarterList":         listStartersBody{},
	"UpdateJudgeConfig":        updateBody{},
}
