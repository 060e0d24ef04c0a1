package testkit

import "github.com/assayhq/assay/internal/command/client/api"

type (
	// Decision is what a gate decided about a run.
	Decision = api.Decision
	// DecisionList is a page of decisions.
	DecisionList = api.DecisionList
	// ItemPlan is how many items a difference needs.
	ItemPlan = api.ItemPlan
	// RunSeries is several runs side by side.
	RunSeries = api.RunSeries
)
