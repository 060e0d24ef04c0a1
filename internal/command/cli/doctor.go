package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type doctorCommand struct {
	remote
	Target string `help:"URL of an application to be called, to check whether the server may." placeholder:"URL"`
}

// Help is the text of --help above the flags.
func (doctorCommand) Help() string {
	return `Checks the server, its engines, the clock, the key and whether traces arrive, and prints a line for each check. Where the server's settings are in the environment, it also checks them, the pepper and the target.

Exit codes: 0 no problem, 1 a problem, 2 invalid command line.`
}

// Run prints what was found.
func (c doctorCommand) Run(e *Environment) error {
	found := c.remoteChecks(e)
	if e.Inspect != nil {
		found = append(found, e.Inspect(e.Context, c.Target)...)
	}
	out := terminal.Checks{}
	problems := 0
	for _, f := range found {
		out.Lines = append(out.Lines, terminal.CheckLine{Name: f.Check, State: string(f.State), Text: f.Text})
		if f.State == StateProblem {
			problems++
		}
	}
	switch problems {
	case 0:
		out.Summary = "No problem found."
	case 1:
		out.Summary = "1 problem found."
	default:
		out.Summary = fmt.Sprintf("%d problems found.", problems)
	}
	if err := terminal.Detect(e.Out, e.Environ).Checks(e.Out, out); err != nil {
		return err
	}
	if problems > 0 {
		return &ExitError{Code: exitFailed}
	}
	return nil
}

// remoteChecks are what a client of the server can see.
func (c doctorCommand) remoteChecks(e *Environment) []Finding {
	from, keyless := c.client(e)
	if keyless != nil {
		var err error
		if from, err = client.Anonymous(c.URL, e.Environ); err != nil {
			return []Finding{{"server", StateProblem, err.Error()}}
		}
	}
	ctx, cancel := context.WithTimeout(e.Context, time.Minute)
	defer cancel()
	var health api.Health
	sent := time.Now()
	answer, err := from.Clock(func(k api.Client) (err error) {
		health, err = k.GetHealth(ctx)
		return err
	})
	took := time.Since(sent)
	if err != nil {
		return []Finding{{"server", StateProblem, err.Error() + ": start one with `assay all`, or name another with ASSAY_URL"}}
	}
	found := []Finding{{"server", StateOK, fmt.Sprintf("%s, version %s, up for %s", from, health.Version, terminal.Took(time.Duration(health.UptimeSeconds)*time.Second))}}
	found = append(found, engines(ctx, from)...)
	found = append(found, clock(answer.At, sent, took))
	if keyless != nil {
		return append(found, Finding{"key", StateProblem, keyless.Error()})
	}
	return append(found, c.keyChecks(ctx, from)...)
}

// engines are what readiness says.
func engines(ctx context.Context, from *client.Client) (found []Finding) {
	var ready api.Readiness
	_, err := from.Call(func(k api.Client) (err error) {
		ready, err = k.GetReadiness(ctx)
		return err
	})
	checks := ready.Checks
	var refused *client.Error
	if errors.As(err, &refused) {
		checks = refused.Checks()
	}
	if err != nil && len(checks) == 0 {
		return []Finding{{"engines", StateProblem, err.Error()}}
	}
	for _, one := range checks {
		f := Finding{one.Name, StateOK, "answers"}
		if !one.OK {
			f.State, f.Text = StateProblem, api.Value(one.Message)
		}
		found = append(found, f)
	}
	return found
}

// maxSkew is how far clocks may be apart before times look wrong.
const maxSkew = 5 * time.Second

// clock compares the clocks, as far as the time of the answer allows.
func clock(at, sent time.Time, took time.Duration) Finding {
	if at.IsZero() {
		return Finding{"clock", StateSkipped, "the server does not say its time"}
	}
	apart := sent.Add(took / 2).Sub(at)
	if unsure := took/2 + time.Second; apart.Abs() <= maxSkew+unsure {
		return Finding{"clock", StateOK, "this machine and the server agree"}
	}
	where := "ahead of"
	if apart < 0 {
		where = "behind"
	}
	return Finding{"clock", StateProblem, fmt.Sprintf("this machine is %s %s the server: synchronise both clocks, else traces have wrong times", terminal.Took(apart.Abs()), where)}
}

// keyChecks are what the key can do and see.
func (c doctorCommand) keyChecks(ctx context.Context, from *client.Client) []Finding {
	var me api.Me
	if _, err := from.Call(func(k api.Client) (err error) {
		me, err = k.GetMe(ctx)
		return err
	}); err != nil {
		return []Finding{{"key", StateProblem, err.Error()}}
	}
	key := Finding{"key", StateOK, fmt.Sprintf("%s… of %q, %s", me.KeyPrefix, terminal.Text(me.OrganizationName), scopesText(me.Scopes))}
	if !slices.Contains(me.Scopes, "traces:read") {
		return []Finding{key, {"traces", StateSkipped, "the key lacks the scope traces:read"}}
	}
	list, _, err := from.Traces(ctx, client.Query{Limit: 1})
	switch {
	case err != nil:
		return []Finding{key, {"traces", StateProblem, err.Error()}}
	case len(list.Traces) == 0 && list.DeferredSince.IsZero():
		return []Finding{key, {"traces", StateSkipped, fmt.Sprintf("none has arrived yet: where your application runs, set OTEL_EXPORTER_OTLP_ENDPOINT=%s and OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, and put the key into OTEL_EXPORTER_OTLP_HEADERS=\"authorization=Bearer KEY\"", from)}}
	}
	if since := list.DeferredSince; !since.IsZero() {
		return []Finding{key, {"traces", StateProblem, fmt.Sprintf("some telemetry of the last %s is stored and cannot be read yet, because ClickHouse does not take it; look at its log, and at the server's for \"telemetry is deferred\"", terminal.Took(max(0, time.Since(since))))}}
	}
	newest := list.Traces[0]
	return []Finding{key, {"traces", StateOK, fmt.Sprintf("the newest began %s ago: assay traces get %s", terminal.Took(max(0, time.Since(newest.Moment()))), newest.ID)}}
}

// scopesText says what a key may do, and what commands need beyond that.
func scopesText(scopes []string) string {
	var missing []string
	for _, s := range []string{"eval:read", "eval:write", "traces:read", "traces:write"} {
		if !slices.Contains(scopes, s) {
			missing = append(missing, s)
		}
	}
	if len(missing) == 0 {
		return fmt.Sprintf("%d scopes", len(scopes))
	}
	return "without " + joined(missing)
}

// FindingOf is the finding of a check that ends with an error or well.
func FindingOf(check, well string, err error) Finding {
	if err != nil {
		return Finding{check, StateProblem, err.Error()}
	}
	return Finding{check, StateOK, well}
}
