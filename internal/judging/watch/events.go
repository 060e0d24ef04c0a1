package watch

import "github.com/assayhq/assay/internal/change/event"

var watchNoun = event.Of("judge_watch", "JudgeWatch")

var (
	eventStarted        = watchNoun.Event("judge_watch.started", "A watch for the drift of a judge was started.")
	eventCheckRequested = watchNoun.Event("judge_watch.check_requested", "A check of a watch was requested before it was due.")
	eventChanged        = watchNoun.Event("judge_watch.changed", "A watch began to watch, or found that the judge has drifted.")
	eventStopped        = watchNoun.Event("judge_watch.stopped", "A watch was stopped, replaced, or had nothing left to watch.")
)
