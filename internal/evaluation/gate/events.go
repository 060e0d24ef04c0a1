package gate

import "github.com/assayhq/assay/internal/change/event"

var decisionNoun = event.Of("decision", "Decision")

var eventDecided = decisionNoun.Event("run.decided", "It was decided whether a run meets requirements.")
