package neighbours

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// control is a guard that is removed, and the attack that must show it.
type control struct {
	rig.Guard
	attack string
	heaps  bool // the harm is memory: being slow proves nothing
}

// controls are the guards between an organization and its neighbours.
var controls = []control{
	{attack: "large imports", Guard: rig.Guard{
		Name: "no_bytes", In: "admission.Budget.take",
		Text:    "	if used+n > b.limit-b.total-n {\n",
		Instead: "	if used+n > b.limit-b.total-n && !sabotage(\"no_bytes\") {\n",
	}},
	{attack: "pages of large items", Guard: rig.Guard{
		Name: "whole_pages", In: "dataset.store.listItems",
		Text: "			OrgID: org, DatasetID: datasetID, Below: p.Below, RowLimit: int32(p.Limit), OneMore: int32(p.Limit) + 1, RowOffset: int32(p.Offset), MaxBytes: PageBytes,\n",
		Instead: `			OrgID: org, DatasetID: datasetID, Below: p.Below, RowLimit: int32(p.Limit), OneMore: int32(p.Limit) + 1, RowOffset: int32(p.Offset), MaxBytes: func() int64 {
				if sabotage("whole_pages") {
					return 1 << 40
				}
				return PageBytes
			}(),
`,
	}},
	{attack: "slow readers", heaps: true, Guard: rig.Guard{
		Name: "read_first", In: "admission.Account.Read",
		Text:    "	if err := a.Wait(ctx, most); err != nil {\n",
		Instead: "	if sabotage(\"read_first\") {\n		_, err := read()\n		return err\n	}\n	if err := a.Wait(ctx, most); err != nil {\n",
	}},
	{attack: "spans of many days", Guard: rig.Guard{
		Name: "all_days", In: "spandb.Rows.AppendSpan",
		Text:    "	if s.Start < r.border {\n",
		Instead: "	if s.Start < r.border && !sabotage(\"all_days\") {\n",
	}},
	{attack: "costly scores of a client", Guard: rig.Guard{
		Name: "no_turns", In: "admission.Account.Work",
		Text:    "	if a.budget == nil {\n		return task(ctx.Err)\n",
		Instead: "	if a.budget == nil || sabotage(\"no_turns\") {\n		return task(ctx.Err)\n",
	}},
	{attack: "prompts that grow", Guard: rig.Guard{
		Name: "any_prompt", In: "scoring.fill",
		Text:    "		if b.Len()+len(before)+len(value) > maxPrompt {\n",
		Instead: "		if b.Len()+len(before)+len(value) > maxPrompt && !sabotage(\"any_prompt\") {\n",
	}},
	{attack: "runs that fill every slot", Guard: rig.Guard{
		Name: "every_slot", In: "admission.Turns.admits",
		Text:    "(t.whole || l.running == 0",
		Instead: "(t.whole || sabotage(\"every_slot\") || l.running == 0",
	}},
}

// sabotage builds the application without guards.
func (s *system) sabotage(ctx context.Context) (string, error) {
	guards := make([]rig.Guard, len(controls))
	for i, c := range controls {
		guards[i] = c.Guard
	}
	sources, err := rig.Removable("internal", guards, nil)
	if err != nil {
		return "", err
	}
	return s.BuildUnguarded(ctx, sources, "assay-neighbours-unguarded").Binary()
}

// control repeats attacks without the guards against them. Each must harm.
func (p *proof) control(ctx context.Context, list []control, unguarded string) error {
	p.s.Binary = unguarded
	for _, c := range list {
		if err := p.without(ctx, c); err != nil {
			return fmt.Errorf("control %s: %w", c.Name, err)
		}
	}
	return nil
}

// without runs one control, on a server and a worker of its own.
func (p *proof) without(ctx context.Context, c control) error {
	p.s.Halt()
	p.s.Removed = c.Name
	if err := p.s.Restart(ctx); err != nil {
		return err
	}
	living, stop := context.WithCancel(ctx)
	defer stop()
	p.living = p.quiet.live(living)
	if err := rig.Sleep(ctx, 2*time.Second); err != nil {
		return err
	}
	for _, a := range attacks {
		if a.name != c.attack {
			continue
		}
		out, err := p.attack(ctx, a)
		stop()
		p.living.Wait()
		if err != nil {
			return err
		}
		harm := out.guilty()
		fmt.Printf("control %-20s %v\n", c.Name, harm)
		if harm == nil || c.heaps && out.server <= out.allowed && out.worker <= out.allowed {
			return fmt.Errorf("%w\n%s", rig.ErrUnnoticed, out)
		}
		return nil
	}
	return fmt.Errorf("there is no attack %q", c.attack)
}
