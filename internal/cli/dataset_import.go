package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/client"
	"github.com/assayhq/assay/internal/client/itemfile"
)

type datasetCommand struct {
	Import importCommand `cmd:"" help:"Add the items of a CSV or JSONL file to a dataset."`
	Export exportCommand `cmd:"" help:"Write the items of a dataset to a CSV or JSONL file."`
}

type importCommand struct {
	File    string        `arg:"" help:"File to import; - for standard input."`
	Dataset string        `arg:"" help:"ID of the dataset."`
	Map     []string      `help:"Field of an item that a column becomes, such as question=input or topic=labels.topic; COLUMN= leaves a column out. Repeatable." placeholder:"COLUMN=FIELD" sep:"none"`
	Format  string        `help:"Format of the file, csv or jsonl; by default that of its name." enum:",csv,jsonl" default:""`
	Preview int           `help:"Number of items to show without importing any." placeholder:"N"`
	GoOn    bool          `help:"Whether to import the other lines if some are refused."`
	URL     string        `help:"URL of the server." placeholder:"URL"`
	Every   time.Duration `hidden:"" default:"1s"`
}

// maxShown is how many refused lines are listed.
const maxShown = 20

// Run imports a file.
func (c importCommand) Run(e *Environment) error {
	mapping, err := itemfile.ParseMapping(c.Map)
	if err != nil {
		return &ExitError{2, err}
	}
	format, err := formatOf(c.Format, c.File)
	if err != nil {
		return &ExitError{2, err}
	}
	in, closeFile, err := openInput(c.File)
	if err != nil {
		return err
	}
	defer closeFile()
	from, err := itemfile.NewReader(in, format, mapping)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if c.Preview > 0 {
		return preview(e.Out, from, c.Preview)
	}
	to, err := client.FromEnviron(c.URL, e.Environ)
	if err != nil {
		return err
	}
	last := time.Now()
	done, err := to.ImportItems(e.Context, c.Dataset, from, c.GoOn, func(d client.Imported) {
		if time.Since(last) >= c.Every {
			last = time.Now()
			fmt.Fprintf(e.ErrOut, "%d lines read, %d items created\n", d.Lines, d.Created)
		}
	})
	for _, line := range done.Refused[:min(len(done.Refused), maxShown)] {
		fmt.Fprintf(e.ErrOut, "%s, %s\n", c.File, line)
	}
	if more := len(done.Refused) - maxShown; more > 0 {
		fmt.Fprintf(e.ErrOut, "… and %d more lines\n", more)
	}
	if err != nil {
		return fmt.Errorf("%w\n%d lines were imported before; import the file again to go on: what is there is skipped", err, done.Created+done.Skipped)
	}
	fmt.Fprintf(e.Out, "%d created, %d already there, %d refused\n", done.Created, done.Skipped, len(done.Refused))
	if len(done.Refused) == 0 {
		return nil
	}
	if c.GoOn {
		return &ExitError{exitFailed, nil}
	}
	return &ExitError{exitFailed, errors.New("the import stopped: correct the lines and import the file again, or pass --go-on to leave them out")}
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

func openInput(name string) (io.Reader, func(), error) {
	if name == "-" {
		return os.Stdin, func() {}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}

type exportCommand struct {
	Dataset string `arg:"" help:"ID of the dataset."`
	File    string `arg:"" optional:"" default:"-" help:"File to write; standard output by default."`
	Format  string `help:"Format of the file, csv or jsonl; by default that of its name." enum:",csv,jsonl" default:""`
	Version int    `help:"Number of a frozen version; the current items by default." placeholder:"N"`
	URL     string `help:"URL of the server." placeholder:"URL"`
}

// Run exports a dataset.
func (c exportCommand) Run(e *Environment) (err error) {
	if c.File == "-" && c.Format == "" {
		c.Format = string(itemfile.JSONL)
	}
	format, err := formatOf(c.Format, c.File)
	if err != nil {
		return &ExitError{2, err}
	}
	from, err := client.FromEnviron(c.URL, e.Environ)
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
	n, err := from.ExportItems(e.Context, c.Dataset, c.Version, w, func(int) {})
	if err == nil && c.File != "-" {
		fmt.Fprintf(e.Out, "%d items written to %s\n", n, c.File)
	}
	return err
}
