package app

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
)

// adminCommand is what the operator of a deployment does, with the databases'
// credentials and no API key.
type adminCommand struct {
	Bootstrap    bootstrapCommand    `cmd:"" help:"Create an organization with an owner and an API key with all scopes. The key, and a link with which the owner comes in, are printed once."`
	Invite       inviteCommand       `cmd:"" help:"Print a link with which a member comes in, or chooses a new password. Give it to that person and to nobody else: whoever uses it is that person."`
	Key          keyCommand          `cmd:"" help:"Create an API key with all scopes for an organization that has no valid key left. Give it to a person, never to an agent: it may approve what other keys ask for. The key is printed once."`
	Plan         planCommand         `cmd:"" help:"Set the plan of an organization and, optionally, a custom limit."`
	Suspend      suspendCommand      `cmd:"" help:"Suspend an organization."`
	Resume       resumeCommand       `cmd:"" help:"Resume a suspended organization."`
	Certificate  certificateCommand  `cmd:"" help:"Print the erasure certificate of a deleted organization."`
	NewMasterKey newMasterKeyCommand `cmd:"" help:"Print a new master key for ASSAY_SECRET_MASTER_KEY."`
	RotateKeys   rotateKeysCommand   `cmd:"" help:"Re-encrypt the data keys of all organizations with the current master key. Can be interrupted and repeated."`
}

// withApp connects to the engines for one command.
func (e *environment) withApp(fn func(*App) error) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	a, err := New(e.ctx, cfg, e.build, time.Now)
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	if err := a.checkPostgres(e.ctx); err != nil {
		return err
	}
	if err := a.Tenancy.CheckPepper(e.ctx, false); err != nil {
		return err
	}
	return fn(a)
}

type bootstrapCommand struct {
	Organization string `required:"" help:"Name of the organization." placeholder:"NAME"`
	Email        string `default:"owner@localhost" help:"E-mail address of the owner."`
	Name         string `default:"Owner" help:"Name of the owner."`
	Mode         string `enum:"live,test" default:"live" help:"Mode of the key: live or test."`
}

// Run creates the organization and prints what cannot be shown again.
func (c bootstrapCommand) Run(e *environment) error {
	return e.withApp(func(a *App) error {
		if err := a.Tenancy.CheckPepper(e.ctx, true); err != nil {
			return err
		}
		made, err := a.Tenancy.Bootstrap(e.ctx, c.Organization, tenancy.FirstMember{Email: c.Email, Name: c.Name}, tenancy.NewKey{
			Name: "bootstrap", Mode: tenancy.Mode(c.Mode), Scopes: principal.Scopes,
		})
		if err != nil {
			return fmt.Errorf("create organization: %w", err)
		}
		fmt.Fprintf(e.out, "SERVICE_ORGANIZATION_ID=%s\nSERVICE_API_KEY=%s\n", made.Org, made.Key.Reveal())
		fmt.Fprintln(e.out, "# Save the key now. Only its hash is stored, so it cannot be shown again.")
		link, err := a.Account.Invite(e.ctx, made.Org, made.Owner)
		if err != nil {
			return fmt.Errorf("invite the owner: %w", err)
		}
		fmt.Fprintf(e.out, "SERVICE_INVITATION=%s\n", link.Link.Reveal())
		fmt.Fprintln(e.out, "# The key is a machine's. The owner, a person, opens the link within seven days, or runs `assay login` with it.")
		return nil
	})
}

type inviteCommand struct {
	orgArg
	Member string `arg:"" help:"E-mail address or ID of the member." placeholder:"EMAIL"`
}

// Run prints the link, which cannot be shown again.
func (c inviteCommand) Run(e *environment) error {
	org, err := c.id()
	if err != nil {
		return err
	}
	return e.withApp(func(a *App) error {
		link, err := a.Account.InviteNamed(e.ctx, org, c.Member)
		if err != nil {
			return fmt.Errorf("invite %s: %w", c.Member, err)
		}
		fmt.Fprintf(e.out, "SERVICE_INVITATION=%s\n", link.Link.Reveal())
		return nil
	})
}

// orgArg is the organization that a command is about.
type orgArg struct {
	Organization string `arg:"" help:"ID of the organization." placeholder:"UUID"`
}

func (o orgArg) id() (principal.OrgID, error) {
	id, err := principal.ParseOrgID(o.Organization)
	if err != nil {
		return id, fmt.Errorf("%q is not an organization ID: use the UUID printed by `assay admin bootstrap`", o.Organization)
	}
	return id, nil
}

type keyCommand struct {
	orgArg
	Name string `required:"" help:"Name of the key." placeholder:"NAME"`
}

// Run creates the key and prints what cannot be shown again.
func (c keyCommand) Run(e *environment) error {
	org, err := c.id()
	if err != nil {
		return err
	}
	return e.withApp(func(a *App) error {
		if err := a.Tenancy.CheckPepper(e.ctx, true); err != nil {
			return err
		}
		_, key, err := a.Tenancy.CreateKey(e.ctx, org, tenancy.NewKey{Name: c.Name, Mode: tenancy.ModeLive, Scopes: principal.Scopes})
		if err != nil {
			return fmt.Errorf("create key: %w", err)
		}
		fmt.Fprintf(e.out, "SERVICE_API_KEY=%s\n", key.Reveal())
		return nil
	})
}

type planCommand struct {
	orgArg
	Plan  string `arg:"" enum:"free,pro,enterprise,self_hosted" help:"Plan: free, pro, enterprise or self_hosted."`
	Limit int    `help:"Requests per hour and key (default: the limit of the plan)." placeholder:"N"`
}

// Run sets the plan.
func (c planCommand) Run(e *environment) error {
	org, err := c.id()
	if err != nil {
		return err
	}
	return e.withApp(func(a *App) error { return a.Tenancy.SetPlan(e.ctx, org, tenancy.Plan(c.Plan), c.Limit) })
}

type suspendCommand struct{ orgArg }

// Run suspends the organization.
func (c suspendCommand) Run(e *environment) error {
	org, err := c.id()
	if err != nil {
		return err
	}
	return e.withApp(func(a *App) error { return a.Tenancy.Suspend(e.ctx, org) })
}

type resumeCommand struct{ orgArg }

// Run ends the suspension.
func (c resumeCommand) Run(e *environment) error {
	org, err := c.id()
	if err != nil {
		return err
	}
	return e.withApp(func(a *App) error { return a.Tenancy.Resume(e.ctx, org) })
}

type certificateCommand struct{ orgArg }

// Run prints the certificate as JSON.
func (c certificateCommand) Run(e *environment) error {
	org, err := c.id()
	if err != nil {
		return err
	}
	return e.withApp(func(a *App) error {
		cert, err := a.Tenancy.Certificate(e.ctx, org)
		if err != nil {
			return err
		}
		out := map[string]any{
			"organization": cert.Org.String(), "requested_at": cert.RequestedAt, "requested_by": cert.RequestedBy,
			"completed_at": cert.CompletedAt, "erased": cert.Contents, "digest": nil,
		}
		if cert.CompletedAt != nil {
			out["digest"] = fmt.Sprintf("sha256:%x", cert.Digest)
		}
		if err := json.MarshalWrite(e.out, out, json.Deterministic(true), jsontext.WithIndent("  ")); err != nil {
			return err
		}
		fmt.Fprintln(e.out)
		return nil
	})
}

type newMasterKeyCommand struct{}

// Run prints a key; nothing is stored.
func (newMasterKeyCommand) Run(e *environment) error {
	key, err := secret.NewMasterKey()
	if err != nil {
		return err
	}
	fmt.Fprintf(e.out, "ASSAY_SECRET_MASTER_KEY=%s\n", key.Reveal())
	fmt.Fprintln(e.out, "# Keep a copy in a safe place. Without this key, stored provider keys are lost.")
	return nil
}

type rotateKeysCommand struct{}

// Run rewraps data keys until none is left, and shows how far it is.
func (rotateKeysCommand) Run(e *environment) error {
	return e.withApp(func(a *App) error {
		done, err := a.Provider.RotateMasterKey(e.ctx, func(done, left int64) {
			fmt.Fprintf(e.out, "%d re-encrypted, %d left\n", done, left)
		})
		if err != nil {
			return fmt.Errorf("%w; %d data keys were re-encrypted, run the command again for the rest", err, done)
		}
		fmt.Fprintf(e.out, "All data keys are encrypted with the current master key (%d re-encrypted now).\n", done)
		return nil
	})
}
