package cli

import (
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/command/cli/evidence"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type evidenceCommand struct {
	Show evidenceShowCommand `cmd:"" help:"Draw the timeline of a trace: what was requested, authorized, dispatched, acknowledged and verified."`
}

type evidenceShowCommand struct {
	Trace string `arg:"" help:"ID of the trace (32 hexadecimal digits), or its number."`
	remote
	JSON bool `name:"json" help:"JSON instead of a drawing."`
}

// Run draws the timeline.
func (c evidenceShowCommand) Run(e *Environment) error {
	return unknown(c.call(e, c.JSON, func(k api.Client) error {
		_, err := k.GetEvidenceTimeline(e.Context, url.Values{"traceId": {c.Trace}})
		return err
	}, func(raw []byte) error {
		var t evidence.Timeline
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		style := terminal.Detect(e.Out, e.Environ)
		return evidence.Draw(e.Out, t, evidence.Options{Width: style.Width, Color: style.Colour})
	}))
}
