package app

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

type simulateProviderCommand struct {
	Addr       string        `help:"Listen address. Any client that can reach it can change the faults." default:"127.0.0.1:4010"`
	Seed       uint64        `help:"Seed of the simulated faults and latencies. The same seed reproduces them." default:"1"`
	Key        []string      `help:"Accepted API key; repeatable (default: any key)." placeholder:"KEY"`
	Latency    time.Duration `help:"Minimum latency of a response." placeholder:"50ms"`
	Median     time.Duration `help:"Median of the lognormal latency added to the minimum." placeholder:"800ms"`
	Sigma      float64       `help:"Sigma of the lognormal latency." default:"0.5"`
	RateLimit  float64       `help:"Fraction of calls that get 429." placeholder:"FRACTION"`
	RetryAfter time.Duration `help:"Retry-After of the 429 responses." default:"1s"`
	Errors     float64       `help:"Fraction of calls that get 500." placeholder:"FRACTION"`
	Faults     string        `help:"JSON file with faults, as for PUT /simulated/faults; replaces the flags above." type:"existingfile" placeholder:"FILE"`
	Script     string        `help:"JSON file with a script that defines the answers of models." type:"existingfile" placeholder:"FILE"`
}

// Run serves until a signal ends it.
func (c simulateProviderCommand) Run(e *environment) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	return simulated.Serve(e.ctx, c.Addr, o, func(a net.Addr) {
		fmt.Fprintf(e.out, "Simulated provider: http://%s/v1, for OpenAI, Anthropic and Google clients.\n"+
			"Faults: PUT http://%s/simulated/faults. Calls received: GET http://%s/simulated/calls.\n", a, a, a)
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
