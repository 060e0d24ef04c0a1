package cli

import (
	"fmt"
	"strings"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type memberCommand struct {
	Invite memberInviteCommand `cmd:"" help:"Add a member and print the link with which they come in."`
}

type memberInviteCommand struct {
	Email string `arg:"" help:"E-mail address of the person."`
	Role  string `enum:"owner,admin,member,annotator,viewer" default:"member" help:"What the person may do: owner, admin, member, annotator or viewer (default: member)." placeholder:"ROLE"`
	Name  string `help:"Name of the person." placeholder:"NAME"`
	remote
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (memberInviteCommand) Help() string {
	return `Needs a person: a personal key with admin:org that you made after signing in. The link works once, for seven days. Give it to that person and to nobody else: they open it in a browser, or run assay login with it. A member who has not come in yet gets a new link.

` + codes
}

// Run prints the link.
func (c memberInviteCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c memberInviteCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	var made api.Invitation
	raw, err := from.Call(func(k api.Client) error {
		id, err := c.member(e, k)
		if err == nil {
			made, err = k.CreateInvitation(e.Context, id)
		}
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	link := made.URL
	if strings.HasPrefix(link, "/") {
		link = from.String() + link
	}
	_, err = fmt.Fprintln(e.Out, terminal.Text(link))
	e.say("Give the link to " + c.Email + " and to nobody else. It works once, for seven days.")
	return err
}

// member is the id of the member with the address, who is added if there is none.
func (c memberInviteCommand) member(e *Environment, k api.Client) (string, error) {
	page, err := k.ListMembers(e.Context, map[string][]string{"search": {c.Email}})
	if err != nil {
		return "", err
	}
	for _, m := range page.Members {
		if strings.EqualFold(m.Email, c.Email) {
			return m.ID, nil
		}
	}
	m, err := k.InviteMember(e.Context, api.InviteMember{Email: c.Email, Name: &c.Name, Role: c.Role})
	return m.ID, err
}
