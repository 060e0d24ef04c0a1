package rule

import "github.com/assayhq/assay/internal/change/event"

var (
	ruleNoun     = event.Of("judge_rule", "JudgeRule")
	backfillNoun = event.Of("judge_backfill", "JudgeBackfill")
)

var (
	eventCreated = ruleNoun.Event("judge_rule.created", "A judge rule was created.")
	eventUpdated = ruleNoun.Event("judge_rule.updated", "A judge rule was changed.")
	eventDeleted = ruleNoun.Event("judge_rule.deleted", "A judge rule was deleted.")

	eventBackfillCreated   = backfillNoun.Event("judge_backfill.created", "A back-fill of a judge rule was started.")
	eventBackfillCancelled = backfillNoun.Event("judge_backfill.cancelled", "A back-fill of a judge rule was cancelled.")
)
