package annotate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
	"github.com/assayhq/assay/internal/review/labelfile"
)

// List is the list of tasks.
func List(list api.AnnotationTaskList, notes []string) terminal.List {
	out := terminal.List{
		Heads: []string{"NAME", "ID", "TYPE", "STATUS", "COMPLETE", "ITEMS"}, Right: map[int]bool{1: true, 4: true, 5: true},
		Empty: "There is no annotation task. Create one with POST /api/annotations/tasks.", Notes: notes,
	}
	for _, t := range list.Tasks {
		out.Rows = append(out.Rows, []string{t.Name, strconv.FormatInt(t.ID, 10), t.Type, t.Status, terminal.Number(int(t.CompletedItems)), terminal.Number(int(t.TotalItems))})
	}
	return out
}

// maxShown is how many refused items are listed.
const maxShown = 20

// Export writes the items and answers of a task to a file, or to out if its name is -.
func Export(ctx context.Context, from *client.Client, task api.AnnotationTask, name string, f labelfile.Format, out io.Writer) (err error) {
	if name == "-" {
		return from.ExportTask(ctx, task.ID, f, out)
	}
	file, err := os.Create(name)
	if err != nil {
		return client.NewMistake("the file cannot be written: %v", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := from.ExportTask(ctx, task.ID, f, file); err != nil {
		return err
	}
	fmt.Fprintf(out, "annotation task %d %q is written to %s\n", task.ID, terminal.Text(task.Name), name)
	return nil
}

// Import adds the items of a file to a task. It returns how many were refused; say
// names them.
func Import(ctx context.Context, to *client.Client, task api.AnnotationTask, name string, from io.Reader, f labelfile.Format, goOn bool, out io.Writer, say func(string)) (refused int, err error) {
	items, err := labelfile.NewReader(from, f)
	if err != nil {
		return 0, client.NewMistake("%s: %v", name, err)
	}
	done, err := to.ImportTask(ctx, task.ID, items, goOn)
	refused = len(done.Refused)
	for _, line := range done.Refused[:min(refused, maxShown)] {
		say(name + ", " + line.String())
	}
	if more := refused - maxShown; more > 0 {
		say(fmt.Sprintf("… and %s more", terminal.Number(more)))
	}
	if done.Lines > 0 && (err == nil || refused > 0) {
		fmt.Fprintf(out, "%d items created with %d imported answers, %d refused\n", done.Created, done.Answers, refused)
	}
	switch {
	case err != nil:
		return refused, fmt.Errorf("%w; %d items are in the task: to go on, import the file again, which adds nothing twice", err, done.Created)
	case done.Lines == 0:
		return 0, client.NewMistake("%s has no items", name)
	case refused > 0 && !goOn:
		return refused, client.NewMistake("the import stopped: correct the items and import the file again, or pass --go-on to leave them out")
	}
	return refused, nil
}

// Format is the format that was asked for, or that of a file's name.
func Format(asked, name string) (labelfile.Format, error) {
	if asked != "" {
		return labelfile.Format(asked), nil
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return labelfile.CSV, nil
	case ".jsonl", ".ndjson":
		return labelfile.JSONL, nil
	case ".json":
		return labelfile.LabelStudio, nil
	}
	return "", client.NewMistake("the format of %s is not known by its name: pass --format jsonl, csv or label-studio", terminal.Text(name))
}

// ImportHelp is the text of --help of an import.
const ImportHelp = `Adds the items of a file to a task. In a JSONL file each line is an item with content and, as needed, suggestion and annotations; in a CSV file each row has the content and an answer:

    {"content": "Why?", "annotations": [{"annotator": "Ada", "label": "good"}]}

Answers in the file are kept as imported: they complete no item and make nobody an annotator. A file that is imported again within three days adds nothing.

Exit codes: 0 done, 1 some items were refused with --go-on, 2 a mistake in the command line, a name, the key or the file, 3 no response.

The key needs the scopes eval:read and eval:write.`

// LabelHelp is the text of --help above the exit codes of a session.
const LabelHelp = `Shows one item at a time and stores each answer at once. Options and ratings have a key each; texts, numbers and lists are written as a line. Other keys: s skips the item with a reason, u goes back to the previous answer, n writes a note, ? shows the guidelines and q quits.

Without a terminal the same keys and lines are read from standard input:

    printf '1\n2\ns\nToo short to tell\nq\n' | assay annotate 12

Needs a personal key with the scopes eval:read and eval:write: answers are those of a person.

`
