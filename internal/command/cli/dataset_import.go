package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/client/itemfile"
	"github.com/assayhq/assay/internal/command/terminal"
)

type importCommand struct {
	File    string   `arg:"" help:"File to import; - for standard input."`
	Dataset string   `arg:"" optional:"" help:"ID or name of the dataset; a new one with the name of the file by default."`
	Map     []string `help:"Field of an item that a column becomes, such as question=input or topic=labels.topic; COLUMN= leaves a column out. Repeatable." placeholder:"COLUMN=FIELD" sep:"none"`
	Format  string   `help:"Format of the file, csv or jsonl; by default that of its name." enum:",csv,jsonl" default:"" placeholder:"FORMAT"`
	Preview int      `help:"Number of items to show without importing any." placeholder:"N"`
	GoOn    bool     `help:"Import of the other lines if some are refused."`
	remote
}

// Help is the text of --help above the flags.
func (importCommand) Help() string { return itemsHelp }

// Run imports a file.
func (c importCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c importCommand) run(e *Environment) error {
	file := itemSource{File: c.File, Map: c.Map, Format: c.Format, GoOn: c.GoOn}
	if err := file.open(e); err != nil {
		return err
	}
	defer file.close()
	if c.Preview > 0 {
		return preview(e.Out, file.from, c.Preview)
	}
	to, err := c.client(e)
	if err != nil {
		return err
	}
	id, err := c.target(e, to)
	if err != nil {
		return err
	}
	done, err := file.send(e, to, id)
	if done.Lines > 0 && (err == nil || len(done.Refused) > 0) {
		fmt.Fprintf(e.Out, "%d created, %d already there, %d refused\n", done.Created, done.Skipped, len(done.Refused))
	}
	return err
}

// target is the id of the dataset that takes the items.
func (c importCommand) target(e *Environment, to *client.Client) (string, error) {
	if c.Dataset != "" {
		d, _, err := to.FindDataset(e.Context, c.Dataset)
		return d.ID, err
	}
	if c.File == "-" {
		return "", mistake("standard input has no name that a dataset could get: name the dataset after the file")
	}
	name := strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
	var made api.Dataset
	_, err := to.Call(func(k api.Client) (err error) {
		made, err = k.CreateDataset(e.Context, api.CreateDataset{Name: name})
		return err
	})
	if err == nil {
		fmt.Fprintf(e.Out, "dataset %s %q created\n", made.ID, terminal.Text(made.Name))
	}
	return made.ID, err
}

// itemSource is a file of items.
type itemSource struct {
	File, Format string
	Map          []string
	GoOn         bool

	from  *itemfile.Reader
	close func()
}

// open begins to read the file.
func (s *itemSource) open(e *Environment) error {
	mapping, err := itemfile.ParseMapping(s.Map)
	if err != nil {
		return mistake("%w", err)
	}
	format, err := formatOf(s.Format, s.File)
	if err != nil {
		return mistake("%w", err)
	}
	in, err := e.open(s.File)
	if err != nil {
		return mistake("the items cannot be read: %w", err)
	}
	s.close = func() { _ = in.Close() }
	if s.from, err = itemfile.NewReader(in, format, mapping); err != nil {
		s.close()
		return mistake("%s: %w", s.File, err)
	}
	return nil
}

const (
	// maxShown is how many refused lines are listed.
	maxShown = 20
	// tellEvery is how often a long import says how far it is.
	tellEvery = 20
)

// send adds the items to a dataset, and names the lines that are refused.
func (s *itemSource) send(e *Environment, to *client.Client, dataset string) (client.Imported, error) {
	requests := 0
	done, err := to.ImportItems(e.Context, dataset, s.from, s.GoOn, func(d client.Imported) {
		if requests++; requests%tellEvery == 0 {
			e.say(fmt.Sprintf("%s lines read, %s items created", terminal.Number(d.Lines), terminal.Number(d.Created)))
		}
	})
	for _, line := range done.Refused[:min(len(done.Refused), maxShown)] {
		e.say(s.File + ", " + line.String())
	}
	if more := len(done.Refused) - maxShown; more > 0 {
		e.say(fmt.Sprintf("… and %s more lines", terminal.Number(more)))
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%w; %d items are in the dataset: to go on, import the file into dataset %s again, which skips what is there", err, done.Created+done.Skipped, dataset)
	case done.Lines == 0:
		err = mistake("%s has no items: write one a line", s.File)
	case len(done.Refused) > 0 && !s.GoOn:
		err = mistake("the import stopped: correct the lines and import the file into dataset %s again, or pass --go-on to leave them out", dataset)
	case len(done.Refused) > 0:
		err = &ExitError{exitFailed, nil}
	}
	return done, err
}

// preview shows items as they would be sent.
func preview(out io.Writer, from *itemfile.Reader, n int) error {
	for range n {
		line, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line.Err != nil {
			fmt.Fprintf(out, "line %d: %v\n", line.Number, line.Err)
			continue
		}
		fmt.Fprintf(out, "line %d: %s\n", line.Number, line.Item)
	}
	return nil
}

// formatOf is the format that was asked for, or that of a file's name.
func formatOf(asked, name string) (itemfile.Format, error) {
	if asked != "" {
		return itemfile.Format(asked), nil
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return itemfile.CSV, nil
	case ".jsonl", ".ndjson", ".json":
		return itemfile.JSONL, nil
	}
	return "", fmt.Errorf("the format of %s is not known by its name: pass --format csv or --format jsonl", name)
}

type exportCommand struct {
	datasetArg
	File    string `arg:"" optional:"" default:"-" help:"File to write; standard output by default."`
	Format  string `help:"Format of the file, csv or jsonl; by default that of its name." enum:",csv,jsonl" default:"" placeholder:"FORMAT"`
	Version int    `help:"Number of a frozen version; the current items by default." placeholder:"N"`
}

// Run exports a dataset.
func (c exportCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c exportCommand) run(e *Environment) (err error) {
	if c.File == "-" && c.Format == "" {
		c.Format = string(itemfile.JSONL)
	}
	format, err := formatOf(c.Format, c.File)
	if err != nil {
		return mistake("%w", err)
	}
	from, d, _, err := c.find(e)
	if err != nil {
		return err
	}
	to := e.Out
	if c.File != "-" {
		f, err := os.Create(c.File)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		to = f
	}
	w, err := itemfile.NewWriter(to, format)
	if err != nil {
		return err
	}
	n, err := from.ExportItems(e.Context, d.ID, c.Version, w, func(int) {})
	if err == nil && c.File != "-" {
		fmt.Fprintf(e.Out, "%d items written to %s\n", n, c.File)
	}
	return err
}
