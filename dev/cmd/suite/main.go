// Command suite tells which packages a step of the checks tests, and where the
// time of the checks went.
//
//	suite packages KIND                      print the packages of a kind: pure, world, raced, all or bench
//	suite table VERDICT STEPS BOOTS TEST…    print where the time of a run went, and how it ended
//	suite timed FILE COMMAND…                run a command and add a line about it to FILE
//	suite profile GRAPH PROCESSES BOOTS      print where the time of tests went, see dev/profile
//
// Its folder is the root of the checkout. STEPS has lines of seconds and a step,
// TEST is the output of `go test -json`. Files that do not exist are empty: a run
// that failed early has a table too.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/assayhq/assay/dev/internal/suite"
)

// budget has the seconds that each step may take.
const budget = ".ci/budget"

func main() {
	err := run(context.Background(), os.Args[1:])
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var verb string
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch {
	case verb == "packages" && len(args) == 1:
		packages, err := suite.Load(ctx, ".")
		if err != nil {
			return err
		}
		paths, err := suite.Select(packages, args[0])
		for _, path := range paths {
			fmt.Println(path)
		}
		return err
	case verb == "table" && len(args) >= 3:
		return table(args[0], args[1], args[2], args[3:])
	case verb == "timed" && len(args) > 1:
		return suite.Timed(args[0], args[1:])
	case verb == "profile" && len(args) == 3:
		return profile(ctx, args[0], args[1], args[2])
	}
	return errors.New("usage: suite packages KIND | table VERDICT STEPS BOOTS TEST… | timed FILE COMMAND… | profile GRAPH PROCESSES BOOTS")
}

func table(verdict, steps, boots string, tests []string) error {
	t := suite.Table{Tests: map[string][]suite.Run{}}
	err := errors.Join(
		load(budget, suite.ReadSteps, &t.Budget),
		load(steps, suite.ReadSteps, &t.Steps),
		load(boots, suite.ReadBoots, &t.Boots),
	)
	for _, file := range tests {
		var runs []suite.Run
		err = errors.Join(err, load(file, suite.ReadRuns, &runs))
		if len(runs) > 0 {
			t.Tests[strings.TrimSuffix(filepath.Base(file), ".json")] = runs
		}
	}
	if err := errors.Join(err, t.Write(os.Stdout)); err != nil {
		return err
	}
	if over := t.Over(); over != "" {
		verdict += "; over budget: " + over
	}
	fmt.Println("==> " + verdict)
	return nil
}

func profile(ctx context.Context, graph, processes, boots string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	module, err := suite.Module(ctx, root)
	if err != nil {
		return err
	}
	p := suite.Profile{Module: module, Root: root}
	err = errors.Join(
		load(graph, suite.ReadActions, &p.Actions),
		load(processes, suite.ReadProcesses, &p.Processes),
		load(boots, suite.ReadBooted, &p.Boots),
	)
	if err != nil {
		return err
	}
	return p.Write(os.Stdout)
}

// load reads a file, if it exists.
func load[T any](name string, read func(io.Reader) (T, error), into *T) error {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if *into, err = read(file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
