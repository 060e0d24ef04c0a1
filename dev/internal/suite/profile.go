package suite

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// An Action is one of those that `go test -debug-actiongraph` writes.
type Action struct {
	ID                       int
	Mode, Package            string
	Deps                     []int
	CmdReal, CmdUser, CmdSys time.Duration
}

// processor is the time that the commands of an action took from the processors;
// what came from the cache took none.
func (a Action) processor() time.Duration { return a.CmdUser + a.CmdSys }

// A Process is one that ran the tests of a package.
type Process struct {
	Folder          string
	Real, Processor time.Duration
}

// Timed runs a command and adds a line about it to a file: its folder, which is
// that of the package under test, and how long it took. `go test -exec` starts
// tests with it.
func Timed(file string, command []string) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	started := time.Now()
	failed := cmd.Run()
	if cmd.ProcessState == nil {
		return failed
	}
	processor := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%s\t%s\n", folder, time.Since(started), processor)
	return cmp.Or(failed, err, f.Close())
}

// ReadProcesses reads what Timed wrote.
func ReadProcesses(r io.Reader) ([]Process, error) {
	var all []Process
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return all, lines.Err()
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%q is not a folder and two durations", lines.Text())
		}
		lasted, err := time.ParseDuration(fields[1])
		if err != nil {
			return nil, err
		}
		processor, err := time.ParseDuration(fields[2])
		if err != nil {
			return nil, err
		}
		all = append(all, Process{fields[0], lasted, processor})
	}
}

// A Profile says where the time of tests went.
type Profile struct {
	Actions   []Action
	Processes []Process
	Boots     map[string]Booted // by package
	Module    string
	Root      string // the folder of the module
}

// Booted is how often the tests of a package started the application, and how long
// that took.
type Booted struct {
	Times int
	Real  time.Duration
}

// ReadBooted reads a line for each boot: its kind, the package, the test and how
// long it took, if that is known.
func ReadBooted(r io.Reader) (map[string]Booted, error) {
	all := map[string]Booted{}
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return all, lines.Err()
		}
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			continue
		}
		b := all[fields[1]]
		b.Times++
		if len(fields) > 3 {
			lasted, err := time.ParseDuration(fields[3])
			if err != nil {
				return nil, err
			}
			b.Real += lasted
		}
		all[fields[1]] = b
	}
}

// costs are what the tests of one package took.
type costs struct {
	name                           string
	compile, link, boot, run, wait time.Duration
	boots                          int
}

func (c costs) sum() time.Duration { return c.compile + c.link + c.run + c.wait }

// Write prints the seconds of each package, those that cost most first, and what
// was built more than once.
func (p Profile) Write(w io.Writer) error {
	rows, shared := p.rows()
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	say := func(cells ...string) { fmt.Fprintln(tab, strings.Join(cells, "\t")) }
	row := func(c costs, name string) {
		say(seconds(c.compile), seconds(c.link), strconv.Itoa(c.boots), seconds(c.boot), seconds(c.run), seconds(c.wait), "  "+name)
	}
	say("compile", "link", "boots", "boot", "run", "wait", "  PACKAGE")
	all := costs{compile: shared}
	for _, c := range rows {
		row(c, c.name)
		all.compile, all.link, all.run, all.wait = all.compile+c.compile, all.link+c.link, all.run+c.run, all.wait+c.wait
		all.boots, all.boot = all.boots+c.boots, all.boot+c.boot
	}
	row(costs{compile: shared}, "what several of them need")
	row(all, "sum")
	if err := tab.Flush(); err != nil {
		return err
	}
	return p.writeRepeated(w)
}

// rows are the costs of each package with tests. What only its tests need to have
// compiled is theirs; the rest is shared.
func (p Profile) rows() (rows []costs, shared time.Duration) {
	byID := map[int]Action{}
	for _, a := range p.Actions {
		byID[a.ID] = a
	}
	byName := map[string]*costs{}
	of := func(name string) *costs {
		if byName[name] == nil {
			byName[name] = &costs{name: strings.TrimPrefix(name, p.Module+"/")}
		}
		return byName[name]
	}
	needed := map[int][]string{} // by the id of a build: the packages whose tests need it
	for _, a := range p.Actions {
		name, isTest := strings.CutSuffix(a.Package, ".test")
		if a.Mode != "link" || !isTest {
			continue
		}
		of(name).link += a.processor()
		seen := map[int]bool{}
		var visit func(id int)
		visit = func(id int) {
			if seen[id] {
				return
			}
			seen[id] = true
			if byID[id].Mode == "build" {
				needed[id] = append(needed[id], name)
			}
			for _, dep := range byID[id].Deps {
				visit(dep)
			}
		}
		visit(a.ID)
	}
	for id, names := range needed {
		if len(names) == 1 {
			of(names[0]).compile += byID[id].processor()
		} else {
			shared += byID[id].processor()
		}
	}
	for _, process := range p.Processes {
		c := of(p.Module + strings.TrimPrefix(process.Folder, p.Root))
		c.run += process.Processor
		c.wait += max(0, process.Real-process.Processor)
	}
	for name, b := range p.Boots {
		c := of(name)
		c.boots, c.boot = c.boots+b.Times, c.boot+b.Real
	}
	for _, c := range byName {
		rows = append(rows, *c)
	}
	slices.SortFunc(rows, func(a, b costs) int {
		return cmp.Or(cmp.Compare(b.sum(), a.sum()), strings.Compare(a.name, b.name))
	})
	return rows, shared
}

// writeRepeated prints which packages were compiled more than once: Go builds a
// package anew for a test binary if it lies between a package with tests inside
// and what these tests import.
func (p Profile) writeRepeated(w io.Writer) error {
	builds := map[string][]time.Duration{}
	for _, a := range p.Actions {
		if a.Mode == "build" && a.processor() > 0 && strings.HasPrefix(a.Package, p.Module+"/") {
			name := strings.TrimPrefix(a.Package, p.Module+"/")
			builds[name] = append(builds[name], a.processor())
		}
	}
	var names []string
	var again time.Duration
	times := 0
	sum := func(all []time.Duration) (d time.Duration) {
		for _, one := range all {
			d += one
		}
		return d
	}
	for name, all := range builds {
		times += len(all)
		if len(all) > 1 {
			names = append(names, name)
			again += sum(all) * time.Duration(len(all)-1) / time.Duration(len(all))
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(sum(builds[b]), sum(builds[a])), strings.Compare(a, b))
	})
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "\n%d packages were compiled %d times; %s s of that is repetition\n", len(builds), times, seconds(again))
	for _, name := range names {
		fmt.Fprintf(tab, "%d times\t%s\t  %s\n", len(builds[name]), seconds(sum(builds[name])), name)
	}
	return tab.Flush()
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) }

// ReadActions reads what `go test -debug-actiongraph` wrote.
func ReadActions(r io.Reader) (actions []Action, err error) {
	err = json.NewDecoder(r).Decode(&actions)
	return actions, err
}
