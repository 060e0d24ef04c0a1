package cli

import (
	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
)

// remote is the Assay that a user's command asks, with the user's own key.
type remote struct {
	URL string `help:"Base URL of Assay (default: ASSAY_URL, the stored profile, or http://localhost:4318)." placeholder:"URL"`
}

func (r remote) client(e *Environment) (*client.Client, error) {
	return client.FromEnviron(r.URL, e.Environ)
}

// call calls the server and shows what it answers, as it is or drawn.
func (r remote) call(e *Environment, asJSON bool, ask func(api.Client) error, draw func([]byte) error) error {
	from, err := r.client(e)
	if err != nil {
		return err
	}
	raw, err := from.Call(ask)
	if err != nil || asJSON {
		return orJSON(e, raw, err)
	}
	return draw(raw)
}
