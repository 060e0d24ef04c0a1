package evaluation

import (
	"github.com/assayhq/assay/internal/evaluation/internal/progress"
	"github.com/assayhq/assay/internal/figure"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/plan"
	"github.com/assayhq/assay/internal/stat"
)

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AddResults":                putResultsBody{},
	"AddedResults":              putResultsAnswer{},
	"ComparedFigure":            figure.ComparedBody{},
	"ComparedJudge":             figure.Judged{},
	"ComparedItems":             figure.ChangesBody{},
	"Comparison":                figure.ComparisonBody{},
	"CreateEvaluation":          createBody{},
	"Evaluation":                evaluationBody{},
	"EvaluationList":            listBody{},
	"EvaluationMetric":          plan.MetricBody{},
	"EvaluationMetricList":      plan.MetricsBody{},
	"EvaluationMetricParameter": plan.ParameterBody{},
	"EvaluationSummary":         summaryBody{},
	"EvaluationWarning":         warningBody{},
	"ItemScores":                figure.ItemScoresBody{},
	"PassRule":                  plan.PassRuleOutput{},
	"PassRuleInput":             plan.PassRuleInput{},
	"Regression":                figure.RegressionBody{},
	"Result":                    plan.ResultBody{},
	"ResultAttempt":             plan.AttemptBody{},
	"ResultError":               plan.ResultErrorBody{},
	"ResultErrorInput":          plan.SentError{},
	"ResultInput":               plan.SentBody{},
	"ResultList":                resultsBody{},
	"ResultUsageInput":          plan.SentUsage{},
	"Run":                       runBody{},
	"RunError":                  runErrorBody{},
	"RunList":                   listRunsBody{},
	"RunNote":                   progress.NoteBody{},
	"RunProgress":               progressBody{},
	"ScoreExplanation":          plan.ExplanationBody{},
	"StartRun":                  startBody{},
	"Statistics":                figure.Statistics{},
	"Target":                    plan.TargetOutput{},
	"TargetInput":               plan.TargetInput{},
	"UpdateEvaluation":          updateBody{},
	"Estimate":                  stat.Estimate{},
	"Interval":                  stat.Interval{},
	"FigureComparison":          stat.Comparison{},
	"ComparisonFamily":          stat.Family{},
	"ItemsForDifference":        stat.ItemsFor{},
	"ExternalMetric":            plan.ExternalBody{},
	"DeclareExternalMetric":     plan.ExternalInput{},
	"ScoreEndpoint":             plan.EndpointBody{},
	"ScoreEndpointInput":        plan.EndpointInput{},
	"AddScores":                 plan.SentScores{},
	"ScoredResult":              plan.ScoredBody{},
	"MissingScores":             stat.Missing{},
	"Resolution":                stat.Resolution{},
	"ComparisonTests":           stat.Tests{},
	"VarianceComponents":        stat.Variance{},
	"Verdict":                   stat.Verdict{},
	"RepeatedTrials":            figure.Repeated{},
	"SliceComparison":           stat.SliceComparison{},
}
