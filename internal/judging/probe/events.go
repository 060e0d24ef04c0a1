package probe

import "github.com/assayhq/assay/internal/change/event"

var probeNoun = event.Of("judge_probe", "JudgeProbe")

var (
	eventCreated  = probeNoun.Event("judge_probe.created", "A probe for the biases of a judge was started.")
	eventReported = probeNoun.Event("judge_probe.reported", "The report of a cancelled probe was completed with later verdicts.")
)

// endings are the events of the end of a probe, by the status that it has then.
var endings = map[Status]event.Type{
	StatusCompleted: probeNoun.Event("judge_probe.completed", "A probe was completed."),
	StatusFailed:    probeNoun.Event("judge_probe.failed", "A probe failed."),
	StatusCancelled: probeNoun.Event("judge_probe.cancelled", "A probe was cancelled."),
}
