package judge

import "github.com/assayhq/assay/internal/change/event"

var (
	configNoun = event.Of("judge_config", "JudgeConfig")
	resultNoun = event.Of("judge_result", "JudgeResult")
)

var (
	eventCreated = configNoun.Event("judge_config.created", "A judge was created.")
	eventUpdated = configNoun.Event("judge_config.updated", "A judge was changed, or got a new version.")
	// EventJudged is followed by those who compare verdicts.
	EventJudged = resultNoun.Event("judge_result.created", "A judge was asked for a verdict, and the verdict was stored.")
)
