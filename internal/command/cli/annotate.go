package cli

import (
	"time"

	"github.com/assayhq/assay/internal/command/cli/annotate"
	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
	"github.com/assayhq/assay/internal/review/labelfile"
)

type annotateCommand struct {
	Label  annotateLabelCommand  `cmd:"" default:"withargs" help:"Answer the items of an annotation task, with single keys."`
	List   annotateListCommand   `cmd:"" help:"List annotation tasks."`
	Export annotateExportCommand `cmd:"" help:"Write the items and answers of a task to a JSONL, CSV or Label Studio file."`
	Import annotateImportCommand `cmd:"" help:"Add the items of a JSONL, CSV or Label Studio file to a task."`
}

type annotateListCommand struct {
	remote
	Search string `help:"Only tasks whose name contains this text." placeholder:"TEXT"`
	listFlags
}

// Run prints the list.
func (c annotateListCommand) Run(e *Environment) error {
	q := c.query()
	if c.Search != "" {
		q.Set("search", c.Search)
	}
	var list api.AnnotationTaskList
	return unknown(c.call(e, c.JSON, func(k api.Client) (err error) {
		list, err = k.ListAnnotationTasks(e.Context, q)
		return err
	}, func([]byte) error {
		return terminal.Detect(e.Out, e.Environ).List(e.Out, annotate.List(list, more(list.HasMore)))
	}))
}

// taskArg names an annotation task.
type taskArg struct {
	Task string `arg:"" help:"ID or name of the annotation task."`
	remote
}

func (a taskArg) find(e *Environment) (from *client.Client, found api.AnnotationTask, err error) {
	if from, err = a.client(e); err == nil {
		found, err = from.FindAnnotationTask(e.Context, a.Task)
	}
	return from, found, err
}

type annotateLabelCommand struct{ taskArg }

// Help is the text of --help above the flags.
func (annotateLabelCommand) Help() string { return annotate.LabelHelp + codes }

// Run asks the person.
func (c annotateLabelCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c annotateLabelCommand) run(e *Environment) error {
	from, task, err := c.find(e)
	if err != nil {
		return err
	}
	return (&annotate.Session{Client: from, Task: task, In: e.stdin(), Out: e.Out, Style: terminal.Detect(e.Out, e.Environ), Now: time.Now}).Run(e.Context)
}

type annotateExportCommand struct {
	taskArg
	File   string `arg:"" optional:"" default:"-" help:"File to write; standard output by default."`
	Format string `help:"Format of the file, jsonl, csv or label-studio; by default that of its name." enum:",jsonl,csv,label-studio" default:"" placeholder:"FORMAT"`
}

// Run exports a task.
func (c annotateExportCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c annotateExportCommand) run(e *Environment) error {
	if c.File == "-" && c.Format == "" {
		c.Format = string(labelfile.JSONL)
	}
	format, err := annotate.Format(c.Format, c.File)
	if err != nil {
		return err
	}
	from, task, err := c.find(e)
	if err != nil {
		return err
	}
	return annotate.Export(e.Context, from, task, c.File, format, e.Out)
}

type annotateImportCommand struct {
	File string `arg:"" help:"File to import; - for standard input."`
	taskArg
	Format string `help:"Format of the file, jsonl, csv or label-studio; by default that of its name." enum:",jsonl,csv,label-studio" default:"" placeholder:"FORMAT"`
	GoOn   bool   `help:"Import of the other items if some are refused."`
}

// Help is the text of --help above the flags.
func (annotateImportCommand) Help() string { return annotate.ImportHelp }

// Run imports a file.
func (c annotateImportCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c annotateImportCommand) run(e *Environment) error {
	format, err := annotate.Format(c.Format, c.File)
	if err != nil {
		return err
	}
	in, err := e.open(c.File)
	if err != nil {
		return mistake("the file cannot be read: %w", err)
	}
	defer func() { _ = in.Close() }()
	to, task, err := c.find(e)
	if err != nil {
		return err
	}
	refused, err := annotate.Import(e.Context, to, task, c.File, in, format, c.GoOn, e.Out, e.say)
	if err == nil && refused > 0 {
		err = &ExitError{exitFailed, nil}
	}
	return err
}
