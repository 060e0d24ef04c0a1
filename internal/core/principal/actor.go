package principal

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// ActorType says what kind of actor did something.
type ActorType string

// The kinds of actors.
const (
	ActorUser       ActorType = "user"
	ActorServiceKey ActorType = "service_key"
	ActorSystem     ActorType = "system"
)

// Actor is who did something, as rows remember it. The name is not part of it:
// it is looked up when it is shown.
type Actor struct {
	Type ActorType
	// ID is the user's UUID or the number of the key; empty for the system.
	ID string
	// Asserted is true if a key only says that it speaks for the user.
	Asserted bool
}

// ActorOf is the actor behind the context's caller.
func ActorOf(ctx context.Context) Actor {
	c := From(ctx)
	switch {
	case c.User != nil:
		return UserActor(*c.User, c.Asserted)
	case c.Key != 0:
		return KeyActor(c.Key)
	default:
		return Actor{Type: ActorSystem}
	}
}

// InPerson reports whether the actor was a person, as Caller.InPerson does.
func (a Actor) InPerson() bool { return a.Type == ActorUser && !a.Asserted }

// UserActor is a person.
func UserActor(user uuid.UUID, asserted bool) Actor {
	return Actor{Type: ActorUser, ID: user.String(), Asserted: asserted}
}

// KeyActor is a service key.
func KeyActor(key int64) Actor {
	return Actor{Type: ActorServiceKey, ID: strconv.FormatInt(key, 10)}
}

// Caller is the actor as the caller of something that is done for it later.
func (a Actor) Caller() Caller {
	c := Caller{Asserted: a.Asserted}
	switch a.Type {
	case ActorUser:
		if user, err := uuid.Parse(a.ID); err == nil {
			c.User = &user
		}
	case ActorServiceKey:
		c.Key, _ = strconv.ParseInt(a.ID, 10, 64)
	}
	return c
}

// asserted is the mark of an asserted actor's text.
const asserted = "/asserted"

// String is the form that rows hold: type/id, or type alone for the system.
func (a Actor) String() string {
	if a.ID == "" {
		return string(a.Type)
	}
	text := string(a.Type) + "/" + a.ID
	if a.Asserted {
		text += asserted
	}
	return text
}

// ParseActor reads what String wrote. A text of an unknown form is the system's:
// nobody is named who may not have been there.
func ParseActor(text string) Actor {
	rest, isAsserted := strings.CutSuffix(text, asserted)
	kind, id, _ := strings.Cut(rest, "/")
	switch t := ActorType(kind); {
	case t == ActorUser && id != "", t == ActorServiceKey && id != "":
		return Actor{Type: t, ID: id, Asserted: isAsserted}
	case kind == "key":
		return Actor{Type: ActorServiceKey} // as rows had it before keys were named by number
	default:
		return Actor{Type: ActorSystem}
	}
}

// Scan reads the actor of a row.
func (a *Actor) Scan(text any) error {
	s, ok := text.(string)
	if !ok {
		return fmt.Errorf("an actor is a text, not %T", text)
	}
	*a = ParseActor(s)
	return nil
}
