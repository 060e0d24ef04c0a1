package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

type reportCommand struct {
	runArgs
	Output string `short:"o" help:"File for the report; - is standard output." placeholder:"FILE"`
	Open   bool   `help:"Open the report in a browser."`
}

// Help is the text of --help above the flags.
func (reportCommand) Help() string {
	return `Saves the report of a run that has ended: one web page that needs no server, no key and no network. Without --output, it is saved as report-RUN.html in this folder, or with --open in a temporary folder.

` + codes + `

The key needs the scope eval:read.`
}

// Run saves the report.
func (c reportCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c reportCommand) run(e *Environment) error {
	from, evaluation, r, err := c.findRun(e)
	if err != nil {
		return err
	}
	page, err := from.Report(e.Context, evaluation.ID, r)
	if err != nil {
		return err
	}
	file := c.Output
	switch {
	case file == "" && c.Open:
		dir, err := os.MkdirTemp("", "assay-report-")
		if err != nil {
			return err
		}
		file = filepath.Join(dir, "report-"+r.ID+".html")
	case file == "":
		file = "report-" + r.ID + ".html"
	}
	if err := save(e, file, "--output", page); err != nil {
		return err
	}
	if c.Open && file != "-" {
		return open(e.Context, file)
	}
	return nil
}

// save writes a page to a file, or to standard output if its name is -.
func save(e *Environment, file, flag string, page []byte) error {
	if file == "-" {
		_, err := e.Out.Write(page)
		return err
	}
	if err := os.WriteFile(file, page, 0o600); err != nil {
		return mistake("the report cannot be written: %w; name another file with %s", err, flag)
	}
	fmt.Fprintln(e.Out, file)
	return nil
}

// open shows a file in the browser of this machine.
func open(ctx context.Context, file string) error {
	name, args := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	//nolint:gosec // one of three programs, and a file that this command has written
	if err := exec.CommandContext(ctx, name, args...).Run(); err != nil {
		return &ExitError{exitFailed, fmt.Errorf("no browser could be opened (%s: %w): open the file above yourself", name, err)}
	}
	return nil
}
