package evaluation

import "github.com/assayhq/assay/internal/change/event"

var (
	evaluationNoun = event.Of("evaluation", "Evaluation")
	runNoun        = event.Of("run", "Run")
)

var (
	eventCreated = evaluationNoun.Public("evaluation.created", "evaluation.created", "An evaluation was created.")
	eventUpdated = evaluationNoun.Event("evaluation.updated", "An evaluation was changed.")
	eventDeleted = evaluationNoun.Event("evaluation.deleted", "An evaluation was deleted with its runs.")

	eventRunStarted   = runNoun.Public("run.started", "evaluation.run.started", "A run of an evaluation was started.")
	eventRunFinal     = runNoun.Event("run.final", "The client that posts the results of a run said that it has posted all of them.")
	eventRunCancelled = runNoun.Public("run.cancelled", "evaluation.run.cancelled", "A run of an evaluation was cancelled.")
	eventRunFailed    = runNoun.Public("run.failed", "evaluation.run.failed", "A run of an evaluation failed.")
	// EventRunCompleted is followed by those who read all results of a run.
	EventRunCompleted = runNoun.Public("run.completed", "evaluation.run.completed", "A run of an evaluation was completed.")
)
