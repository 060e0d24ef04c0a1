package cli

import (
	"fmt"
	"strings"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type loginCommand struct {
	URL     string `arg:"" help:"Base URL of Assay, such as https://assay.example.com, or the link of an invitation."`
	Profile string `help:"Name to store it under (default: ASSAY_PROFILE, or default)." placeholder:"NAME"`
}

// Help is the text of --help above the flags.
func (loginCommand) Help() string {
	return `Reads an API key from standard input, tries it, and stores it with the URL in assay/profiles.json of your configuration folder, readable by you alone. Other commands use it if neither ASSAY_API_KEY nor SERVICE_API_KEY is set; ASSAY_PROFILE names another profile. A stored key is sent only to the URL that it was stored with.

    assay login https://assay.example.com < key.txt

With the link of an invitation, reads a new password of yours instead, accepts the invitation, and stores the personal key that you get.

    assay login 'https://assay.example.com/app/invitation?token=...'

` + codes
}

// Run stores a key that works.
func (c loginCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c loginCommand) run(e *Environment) error {
	in, invited := client.ParseInvitation(c.URL)
	if invited {
		return c.accept(e, in)
	}
	key, err := readSecret(e, "API key: ")
	if err != nil {
		return err
	}
	// Whoever has a file such as `assay admin bootstrap` prints pastes its line.
	for _, name := range []string{client.EnvKey, client.EnvAssayKey} {
		key = strings.TrimPrefix(key, name+"=")
	}
	return c.store(e, c.URL, key)
}

// accept lets a person in and stores the key that they get.
func (c loginCommand) accept(e *Environment, in client.Invitation) error {
	password, err := readSecret(e, "New password, of at least 12 characters: ")
	if err != nil {
		return err
	}
	key, err := in.Accept(e.Context, password)
	if err != nil {
		return fmt.Errorf("the invitation is not accepted: %w", err)
	}
	return c.store(e, in.Base(), key)
}

// store stores a key that works.
func (c loginCommand) store(e *Environment, base, key string) error {
	from, err := client.New(base, key, nil)
	if err != nil {
		return err
	}
	var me api.Me
	if _, err := from.Call(func(k api.Client) (err error) {
		me, err = k.GetMe(e.Context)
		return err
	}); err != nil {
		return fmt.Errorf("nothing is stored: %w", err)
	}
	name := c.Profile
	if name == "" {
		name = client.ProfileName(e.Environ)
	}
	file, err := client.StoreProfile(e.Environ, name, &client.Profile{URL: from.String(), Key: key})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "%s with the organization %q is stored as profile %s in %s\n", from, terminal.Text(me.OrganizationName), name, file)
	for _, kv := range e.Environ {
		for _, variable := range []string{client.EnvAssayKey, client.EnvKey, client.EnvURL} {
			if value, ok := strings.CutPrefix(kv, variable+"="); ok && value != "" {
				e.say(variable + " is set in this environment and takes precedence over the profile: unset it to use the profile")
			}
		}
	}
	return nil
}

type logoutCommand struct {
	Profile string `help:"Profile to remove (default: ASSAY_PROFILE, or default)." placeholder:"NAME"`
}

// Run removes the stored key.
func (c logoutCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c logoutCommand) run(e *Environment) error {
	name := c.Profile
	if name == "" {
		name = client.ProfileName(e.Environ)
	}
	stored, err := client.Profiles(e.Environ)
	if err != nil {
		return err
	}
	if _, found := stored[name]; !found {
		return mistake("there is no profile %q: nothing to remove", name)
	}
	file, err := client.StoreProfile(e.Environ, name, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "profile %s is removed from %s; the key itself is still valid, and can be revoked with the API\n", name, file)
	return nil
}
