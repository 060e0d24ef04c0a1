package policy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

var compared = regexp.MustCompile(`policy-oracle cases (\d+) .*differences (\d+)`)

// compare asks the engine and Cedar's reference implementation about random policies,
// and counts where they differ.
func compare(ctx context.Context, cases int, seed uint64) (differences int, err error) {
	cmd := exec.CommandContext(ctx, "internal/agent/policy/internal/engine/oracle/run")
	cmd.Env = append(os.Environ(), fmt.Sprint("CASES=", cases), fmt.Sprint("SEED=", seed%1_000_000+1))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("compare with the reference: %w", err)
	}
	m := compared.FindSubmatch(out)
	if m == nil || string(m[1]) != strconv.Itoa(cases) {
		return 0, fmt.Errorf("compare with the reference: it says %q", out)
	}
	rig.Say("%s", m[0])
	return strconv.Atoi(string(m[2]))
}
