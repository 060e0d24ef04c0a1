// Command access proves that nobody gets at what is not theirs.
//
// It runs the tests of this folder. TestMatrix is the authorization matrix:
// every operation of the route table with every kind of caller, and every
// identifier with every form of somebody else's. Others look for secrets in
// everything that comes out, measure revocation between replicas and count
// limits across them. TestSeededHoles is the control: it opens holes, and the
// matrix must name each. The command shows what they print and ends with the
// matrix's sum.
//
// The last line is: access holes 0 operations N callers N checks N
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

var raced = flag.Bool("race", false, "look for data races in the server meanwhile")

func main() {
	rig.Main("access", func(ctx context.Context) error { return prove(ctx, os.Stdout) })
}

func prove(ctx context.Context, out io.Writer) error {
	args := []string{"test", "-count=1", "-timeout=60m", "-v"}
	if *raced {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "github.com/assayhq/assay/internal/test/prove/access")...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	sum, controlled := "", false
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "access holes ") {
			sum = lines.Text()
			continue
		}
		controlled = controlled || strings.HasPrefix(lines.Text(), "--- PASS: TestSeededHoles ")
		if _, err := fmt.Fprintln(out, lines.Text()); err != nil {
			return err
		}
	}
	if err := cmd.Wait(); err != nil {
		return errors.Join(err, errors.New(sum))
	}
	if sum == "" {
		return errors.New("the matrix printed no sum")
	}
	if !controlled {
		return errors.New("no hole was seeded, so nothing shows that the matrix would find one")
	}
	_, err = fmt.Fprintln(out, sum)
	return err
}
