package judge

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// What a cap is spent with.
const (
	capUSD    = 25.0
	perToken  = 0.001 // US dollars
	capRuns   = 2
	capWidth  = 4                    // concurrency of each run
	capCaller = capRuns*capWidth + 1 // and one who sends single requests
	capCases  = 60                   // of each run
)

// spend has two runs on two workers and single requests at the server spend what one
// judge may cost, and tells whether that was exceeded by more than one call for each
// caller. At every second cap a worker is killed meanwhile: what it spent and had not
// written down is excused, which is at most its allowance and one call for each of
// its callers.
func (s *system) spend(ctx context.Context, n int) (over int, err error) {
	if err := s.provider.slow(50 * time.Millisecond); err != nil {
		return 0, err
	}
	defer func() { _ = s.provider.peace() }()
	org, err := s.Bootstrap(ctx, "Capped")
	if err != nil {
		return 0, err
	}
	t := tenant{Organization: org}
	prices := map[string]any{"priceOverrides": map[string]any{"judge": map[string]any{"inputPerMillion": perToken * 1e6, "outputPerMillion": perToken * 1e6}}}
	if err := s.Insist(ctx, org, http.MethodPatch, "/api/organizations/current", "prices", prices, nil); err != nil {
		return 0, err
	}
	key, err := s.providerKey(ctx, org, "capped", "only-for-proofs")
	if err != nil {
		return 0, err
	}
	if t.single, err = s.judge(ctx, org, "dear", key, map[string]any{"spendCapUsd": capUSD}); err != nil {
		return 0, err
	}
	second, err := s.Start(ctx, "second worker", "worker")
	if err != nil {
		return 0, err
	}
	defer second.Kill()
	l := newLoad(s, s.Seed+uint64(n)+1)
	number := l.number.Add(1)
	whose := fmt.Sprintf("%s%d", ofCaps, number)
	kills := 0
	var all sync.WaitGroup
	errs := make([]error, capRuns+1)
	for i := range capRuns {
		all.Go(func() { errs[i] = s.spendInRun(ctx, l, t, number, i) })
	}
	all.Go(func() { errs[capRuns] = s.spendAlone(ctx, t, number) })
	if n%2 == 1 {
		for spent := 0.0; spent < capUSD/3; {
			if err := rig.Sleep(ctx, 20*time.Millisecond); err != nil {
				return 0, err
			}
			spent, _ = s.provider.charged(whose)
			spent *= perToken
		}
		kills++
		s.Worker.Kill()
		if err := s.StartWorker(ctx); err != nil {
			return 0, err
		}
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	tokens, dearest := s.provider.charged(whose)
	spent, one := tokens*perToken, dearest*perToken
	most := capUSD + capCaller*one + float64(kills)*(capUSD/64+capRuns*capWidth*one)
	rig.Say("cap    US$ %.2f, spent %.2f by %d callers, %.2f a call, workers killed %d", capUSD, spent, capCaller, one, kills)
	if spent < capUSD {
		return 0, fmt.Errorf("cases ended with %.4f spent of the cap of %.4f", spent, capUSD)
	}
	if spent > most {
		return 1, nil
	}
	return 0, nil
}

// spendInRun runs until the cap ends it.
func (s *system) spendInRun(ctx context.Context, l *load, t tenant, number uint64, i int) error {
	j := &journey{load: l, number: l.number.Add(1), org: t, judge: "dear", concurrency: capWidth}
	for n := range capCases {
		j.units = append(j.units, unit{fmt.Sprintf("%s%d-%d", ofCaps, number, 1000*i+n), kinds[0]})
	}
	if err := j.start(ctx); err != nil {
		return err
	}
	end, err := j.follow(ctx)
	if err != nil {
		return err
	}
	if end.Status != "failed" || end.Error == nil || end.Error.Code != "spend_cap_reached" {
		return fmt.Errorf("run %s met a cap and is %s %+v", j.run, end.Status, end.Error)
	}
	return nil
}

// spendAlone sends single requests until the cap ends them.
func (s *system) spendAlone(ctx context.Context, t tenant, number uint64) error {
	for n := 0; ; n++ {
		u := unit{fmt.Sprintf("%s%d-%d", ofCaps, number, 1_000_000+n), kinds[0]}
		var r api.JudgeResult
		if err := s.Post(ctx, t.Organization, "/api/llm-judge/evaluate", u.name, map[string]any{"configId": t.single, "input": u.input(), "output": u.output()}, &r); err != nil {
			return err
		}
		switch {
		case r.Status == "completed":
		case r.Error != nil && r.Error.Code == "spend_cap_reached":
			return nil
		case r.Error != nil && r.Error.Code == "timeout": // a killed process still holds the rest
		default:
			return fmt.Errorf("%s met a cap and is %s %+v", u.name, r.Status, r.Error)
		}
	}
}
