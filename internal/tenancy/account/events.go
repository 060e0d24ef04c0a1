package account

import "github.com/assayhq/assay/internal/change/event"

var memberNoun = event.Of("member", "Member")

var (
	eventInvited   = memberNoun.Event("member.invited", "An invitation was made for a member. Earlier ones no longer work.")
	eventAccepted  = memberNoun.Event("member.accepted", "A member accepted an invitation and chose a password.")
	eventSignedIn  = memberNoun.Event("member.signed_in", "A member signed in.")
	eventSignedOut = memberNoun.Event("member.signed_out", "A member signed out.")
)
