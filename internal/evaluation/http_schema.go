package evaluation

import (
	"github.com/assayhq/assay/internal/evaluation/internal/progress"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AddResults":                putResultsBody{},
	"AddedResults":              putResultsAnswer{},
	"ComparedFigure":            runstat.ComparedBody{},
	"ComparedJudge":             runstat.Judged{},
	"ComparedItems":             runstat.ChangesBody{},
	"Comparison":                runstat.ComparisonBody{},
	"CreateEvaluation":          createBody{},
	"Evaluation":                evaluationBody{},
	"EvaluationList":            listBody{},
	"EvaluationMetric":          scoring.MetricBody{},
	"EvaluationMetricList":      scoring.MetricsBody{},
	"EvaluationMetricParameter": scoring.ParameterBody{},
	"EvaluationSummary":         summaryBody{},
	"EvaluationWarning":         warningBody{},
	"ItemScores":                runstat.ItemScoresBody{},
	"PassRule":                  scoring.PassRuleOutput{},
	"PassRuleInput":             scoring.PassRuleInput{},
	"Regression":                runstat.RegressionBody{},
	"Result":                    scoring.ResultBody{},
	"ResultAttempt":             scoring.AttemptBody{},
	"ResultError":               scoring.ResultErrorBody{},
	"ResultErrorInput":          scoring.SentError{},
	"ResultInput":               scoring.SentBody{},
	"ResultList":                resultsBody{},
	"ResultUsageInput":          scoring.SentUsage{},
	"Run":                       runBody{},
	"RunError":                  runErrorBody{},
	"RunList":                   listRunsBody{},
	"RunNote":                   progress.NoteBody{},
	"RunProgress":               progressBody{},
	"ScoreExplanation":          scoring.ExplanationBody{},
	"StartRun":                  startBody{},
	"Statistics":                runstat.Statistics{},
	"Target":                    scoring.TargetOutput{},
	"TargetInput":               scoring.TargetInput{},
	"UpdateEvaluation":          updateBody{},
	"Estimate":                  stat.Estimate{},
	"Interval":                  stat.Interval{},
	"FigureComparison":          stat.Comparison{},
	"ComparisonFamily":          stat.Family{},
	"ItemsForDifference":        stat.ItemsFor{},
	"ExternalMetric":            scoring.ExternalBody{},
	"DeclareExternalMetric":     scoring.ExternalInput{},
	"ScoreEndpoint":             scoring.EndpointBody{},
	"ScoreEndpointInput":        scoring.EndpointInput{},
	"AddScores":                 scoring.SentScores{},
	"ScoredResult":              scoring.ScoredBody{},
	"MissingScores":             stat.Missing{},
	"Resolution":                stat.Resolution{},
	"ComparisonTests":           stat.Tests{},
	"VarianceComponents":        stat.Variance{},
	"Verdict":                   stat.Verdict{},
	"RepeatedTrials":            runstat.Repeated{},
	"SliceComparison":           stat.SliceComparison{},
}
