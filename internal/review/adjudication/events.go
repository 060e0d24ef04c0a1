package adjudication

import "github.com/assayhq/assay/internal/change/event"

var (
	itemNoun  = event.Of("adjudication_item", "AdjudicationItem")
	truthNoun = event.Of("ground_truth", "GroundTruth")
)

var (
	eventOpened     = itemNoun.Public("adjudication.item.opened", "adjudication.item.opened", "An item was added to the adjudication queue.")
	eventAssigned   = itemNoun.Public("adjudication.item.assigned", "adjudication.item.assigned", "An item was assigned to a member.")
	eventReleased   = itemNoun.Event("adjudication.item.released", "An item was taken back from the member that it was assigned to.")
	eventDecided    = itemNoun.Public("adjudication.item.decided", "adjudication.item.decided", "An item was decided.")
	eventClosed     = itemNoun.Public("adjudication.item.closed", "adjudication.item.closed", "An item was closed with or without ground truth.")
	eventUpdated    = itemNoun.Event("adjudication.item.updated", "An item was changed, or got new ground truth.")
	eventCalibrated = itemNoun.Event("adjudication.item.calibrated", "The ground truth of an item was added to a calibration dataset.")
	eventPromoted   = itemNoun.Event("adjudication.item.promoted", "The ground truth of an item was added to a golden dataset.")
)

// moved are the events of an item that a request moved to another status.
var moved = map[Status]event.Type{
	StatusOpen:      itemNoun.Event("adjudication.item.reopened", "A decided, closed or dismissed item was opened again."),
	StatusDismissed: itemNoun.Event("adjudication.item.dismissed", "An item was dismissed without a decision."),
	StatusClosed:    eventClosed,
}

var eventTruthCreated = truthNoun.Public("ground_truth.created", "ground_truth.created", "Ground truth was stated.")

// truthEnded are the events of the end of ground truth, by the status that it has then.
var truthEnded = map[TruthStatus]event.Type{
	TruthSuperseded: truthNoun.Event("ground_truth.superseded", "Ground truth was replaced by other ground truth."),
	TruthRevoked:    truthNoun.Event("ground_truth.revoked", "Ground truth was revoked."),
}
