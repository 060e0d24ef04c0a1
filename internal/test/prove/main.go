// Command prove does the proofs: `go run ./internal/test/prove people -items 300`.
//
// Each proof is a package of this folder, whose comment says what it proves and what its
// last line is. The proofs access and correction are tests, and have commands of their own.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/test/prove/decisions"
	"github.com/assayhq/assay/internal/test/prove/drill"
	"github.com/assayhq/assay/internal/test/prove/engines"
	"github.com/assayhq/assay/internal/test/prove/erasure"
	"github.com/assayhq/assay/internal/test/prove/events"
	"github.com/assayhq/assay/internal/test/prove/evidence"
	"github.com/assayhq/assay/internal/test/prove/ingest"
	"github.com/assayhq/assay/internal/test/prove/judge"
	"github.com/assayhq/assay/internal/test/prove/neighbours"
	"github.com/assayhq/assay/internal/test/prove/people"
	"github.com/assayhq/assay/internal/test/prove/policy"
	"github.com/assayhq/assay/internal/test/prove/rig"
	"github.com/assayhq/assay/internal/test/prove/runs"
)

// proofs are what can be proven, each with its flags.
var proofs = map[string]func(*flag.FlagSet) func(context.Context) error{
	"decisions": decisions.New, "drill": drill.New, "engines": engines.New, "erasure": erasure.New, "events": events.New, "evidence": evidence.New,
	"ingest": ingest.New, "judge": judge.New, "neighbours": neighbours.New, "people": people.New, "policy": policy.New, "runs": runs.New,
}

func main() {
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	declare := proofs[name]
	if declare == nil {
		fmt.Fprintf(os.Stderr, "usage: prove PROOF [flags]\nproofs: %s\n", strings.Join(slices.Sorted(maps.Keys(proofs)), ", "))
		os.Exit(2)
	}
	flags := flag.NewFlagSet(name, flag.ExitOnError)
	prove := declare(flags)
	_ = flags.Parse(os.Args[2:]) // it exits with an error
	rig.Main(name, prove)
}
