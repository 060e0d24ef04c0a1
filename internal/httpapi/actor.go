package httpapi

import "github.com/assayhq/assay/internal/core/principal"

// Actor is who did something, in every response.
type Actor struct {
	Type     principal.ActorType `json:"type" enum:"user,service_key,system" doc:"The kind of actor."`
	ID       *string             `json:"id" doc:"The user's UUID, or the id of the service key; null for the system."`
	Name     *string             `json:"name" volatile:"true" doc:"The name of the member or key, even after it was removed; null if there is none."`
	Asserted bool                `json:"asserted" doc:"Whether the user was named by X-On-Behalf-Of rather than by a personal key."`
}

// ToActor is an actor with the name that it has now; an empty name is unknown.
func ToActor(a principal.Actor, name string) Actor {
	return Actor{Type: a.Type, ID: OrNull(a.ID), Name: OrNull(name), Asserted: a.Asserted}
}
