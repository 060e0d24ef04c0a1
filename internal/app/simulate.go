package app

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

type simulateProviderCommand struct {
	Addr       string        `help:"Address to listen on. Whoever can reach it can change the faults." default:"127.0.0.1:4010"`
	Seed       uint64        `help:"Another seed is another weather; the same one is the same." default:"1"`
	Key        []string      `help:"A key that is accepted; without any, every key is." placeholder:"KEY"`
	Latency    time.Duration `help:"What every answer takes at least." placeholder:"50ms"`
	Median     time.Duration `help:"Median of a lognormal time that is added to the latency." placeholder:"800ms"`
	Sigma      float64       `help:"Sigma of that time." default:"0.5"`
	RateLimit  float64       `help:"Share of calls that are answered 429." placeholder:"SHARE"`
	RetryAfter time.Duration `help:"What those are asked to wait." default:"1s"`
	Errors     float64       `help:"Share of calls that are answered 500." placeholder:"SHARE"`
	Faults     string        `help:"File with faults in JSON, instead of the flags above; PUT /simulated/faults takes the same." type:"existingfile" placeholder:"FILE"`
	Script     string        `help:"File with a script in JSON: which model answers what." type:"existingfile" placeholder:"FILE"`
}

// Run serves until a signal ends it.
func (c simulateProviderCommand) Run(e *environment) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	return simulated.Serve(e.ctx, c.Addr, o, func(a net.Addr) {
		fmt.Fprintf(e.out, "A simulated provider is at http://%s/v1, for OpenAI's and Anthropic's clients with any key.\n"+
			"Faults: PUT http://%s/simulated/faults. What was asked: GET http://%s/simulated/calls.\n", a, a, a)
	})
}

func (c simulateProviderCommand) options() (simulated.Options, error) {
	o := simulated.Options{Seed: c.Seed, Keys: c.Key}
	o.Faults.Latency = simulated.Latency{Fixed: c.Latency, Median: c.Median}
	if c.Median > 0 {
		o.Faults.Latency.Sigma = c.Sigma
	}
	if c.RateLimit > 0 {
		o.Faults.Rules = append(o.Faults.Rules, simulated.Rule{Fault: simulated.FaultRateLimit, Share: c.RateLimit, RetryAfter: c.RetryAfter})
	}
	if c.Errors > 0 {
		o.Faults.Rules = append(o.Faults.Rules, simulated.Rule{Fault: simulated.FaultError, Share: c.Errors})
	}
	if c.Faults != "" {
		text, err := os.ReadFile(c.Faults)
		if err != nil {
			return o, fmt.Errorf("read faults: %w", err)
		}
		if o.Faults, err = simulated.ParseFaults(text); err != nil {
			return o, fmt.Errorf("read faults from %s: %w", c.Faults, err)
		}
	}
	if c.Script != "" {
		text, err := os.ReadFile(c.Script)
		if err != nil {
			return o, fmt.Errorf("read script: %w", err)
		}
		if o.Script, err = simulated.ParseScript(text); err != nil {
			return o, fmt.Errorf("read script from %s: %w", c.Script, err)
		}
	}
	return o, nil
}
