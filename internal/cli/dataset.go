package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/client/api"
	"github.com/assayhq/assay/internal/terminal"
)

type datasetCommand struct {
	List   datasetListCommand   `cmd:"" help:"List datasets."`
	Show   datasetShowCommand   `cmd:"" help:"Show a dataset."`
	Create datasetCreateCommand `cmd:"" help:"Create a dataset, optionally with items from a file."`
	Add    datasetAddCommand    `cmd:"" help:"Add items from a file to a dataset."`
	Freeze datasetFreezeCommand `cmd:"" help:"Freeze the items of a dataset as a version."`
	Delete datasetDeleteCommand `cmd:"" help:"Delete a dataset."`
}

type datasetListCommand struct {
	remote
	Search string `help:"Only datasets whose name contains this text." placeholder:"TEXT"`
	listFlags
}

// Run prints the list.
func (c datasetListCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c datasetListCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	q := c.query()
	if c.Search != "" {
		q.Set("search", c.Search)
	}
	var list api.DatasetList
	raw, err := from.Call(func(k api.Client) (err error) {
		list, err = k.ListDatasets(e.Context, q)
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	out := terminal.List{
		Heads: []string{"NAME", "ID", "ITEMS", "VERSION", "PURPOSE", "UPDATED"}, Right: map[int]bool{1: true, 2: true, 3: true},
		Empty: empty("dataset", c.Search, "NAME --items FILE"), Notes: more(list.HasMore),
	}
	for _, d := range list.Datasets {
		out.Rows = append(out.Rows, []string{d.Name, d.ID, terminal.Number(int(d.ItemCount)), integer(d.LatestDatasetVersion), d.Purpose, terminal.Moment(d.UpdatedAt)})
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}

// empty says that a list has nothing, and what to do.
func empty(noun, search, create string) string {
	if search != "" {
		return fmt.Sprintf("The name of no %s contains %q.", noun, search)
	}
	return fmt.Sprintf("There is no %s yet. Create one with `assay %s create %s`.", noun, noun, create)
}

// integer is a number that may be null.
func integer(n *int64) string {
	if n == nil {
		return ""
	}
	return terminal.Number(int(*n))
}

// datasetArg names a dataset.
type datasetArg struct {
	Dataset string `arg:"" help:"ID or name of the dataset."`
	remote
}

type datasetShowCommand struct {
	datasetArg
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run prints the dataset.
func (c datasetShowCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c datasetShowCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	d, raw, err := from.FindDataset(e.Context, c.Dataset)
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	return printDataset(e, d)
}

func printDataset(e *Environment, d api.Dataset) error {
	version := "none: `assay dataset freeze " + d.ID + "` makes one"
	if d.LatestDatasetVersion != nil {
		version = integer(d.LatestDatasetVersion)
	}
	return terminal.Detect(e.Out, e.Environ).Sheet(e.Out, terminal.Sheet{Name: d.Name, Kind: "dataset " + d.ID, Facts: []terminal.Fact{
		{Name: "items", Value: terminal.Number(int(d.ItemCount))},
		{Name: "latest version", Value: version},
		{Name: "purpose", Value: d.Purpose},
		{Name: "description", Value: api.Value(d.Description)},
		{Name: "tags", Value: joined(d.Tags)},
		{Name: "created", Value: terminal.Moment(d.CreatedAt)},
		{Name: "updated", Value: terminal.Moment(d.UpdatedAt)},
	}})
}

type datasetCreateCommand struct {
	Name string `arg:"" help:"Name of the dataset."`
	remote
	Description string   `help:"Description." placeholder:"TEXT"`
	Purpose     string   `help:"Purpose, such as general or regression." placeholder:"NAME"`
	Tag         []string `help:"Tag; repeatable." placeholder:"NAME"`
	Items       string   `help:"File with items, one JSON object a line or one array; - is standard input." placeholder:"FILE"`
	JSON        bool     `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (datasetCreateCommand) Help() string { return itemsHelp }

const itemsHelp = `An item is an object with input and, as needed, expectedOutput, output, context, messages, labels, split and weight. In a file, each line is an item:

    {"input": "Where is my invoice?", "expectedOutput": "Under Billing."}

Nothing is sent unless every line can be read.

` + codes + `

The key needs the scope eval:write.`

// Run creates the dataset.
func (c datasetCreateCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c datasetCreateCommand) run(e *Environment) error {
	items, err := readItems(c.Items)
	if err != nil {
		return err
	}
	from, err := c.client(e)
	if err != nil {
		return err
	}
	var made api.Dataset
	raw, err := from.Call(func(k api.Client) (err error) {
		made, err = k.CreateDataset(e.Context, api.CreateDataset{Name: c.Name, Description: text(c.Description), Purpose: text(c.Purpose), Tags: c.Tag})
		return err
	})
	if err != nil {
		return err
	}
	if len(items) > 0 {
		if _, err := addItems(e, from, made.ID, items); err != nil {
			return fmt.Errorf("dataset %s is created, but without all of its items: %w; add them with `assay dataset add %s FILE`", made.ID, err, made.ID)
		}
		if made, raw, err = from.FindDataset(e.Context, made.ID); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(e, raw)
	}
	return printDataset(e, made)
}

type datasetAddCommand struct {
	datasetArg
	File string `arg:"" help:"File with items, one JSON object a line or one array; - is standard input."`
	JSON bool   `name:"json" help:"JSON output: how many items were added and skipped."`
}

// Help is the text of --help above the flags.
func (datasetAddCommand) Help() string { return itemsHelp }

// Run adds the items.
func (c datasetAddCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c datasetAddCommand) run(e *Environment) error {
	items, err := readItems(c.File)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return mistake("%s has no items: write one JSON object a line, such as {\"input\": \"…\", \"expectedOutput\": \"…\"}", c.File)
	}
	from, err := c.client(e)
	if err != nil {
		return err
	}
	d, _, err := from.FindDataset(e.Context, c.Dataset)
	if err != nil {
		return err
	}
	n, err := addItems(e, from, d.ID, items)
	if err != nil {
		return err
	}
	if c.JSON {
		raw, err := json.Marshal(map[string]int{"created": n.created, "skipped": n.skipped}, json.Deterministic(true))
		return orJSON(e, raw, err)
	}
	fmt.Fprintf(e.Out, "%s added to %s, %d skipped\n", count(int64(n.created)), terminal.Text(d.Name), n.skipped)
	return nil
}

// itemsAtOnce is how many items one request adds.
const itemsAtOnce = 500

type added struct{ created, skipped int }

// addItems adds items in parts. Each part is added whole or not at all.
func addItems(e *Environment, from caller, dataset string, items []api.DatasetItemInput) (n added, err error) {
	for at := 0; at < len(items); at += itemsAtOnce {
		part := items[at:min(len(items), at+itemsAtOnce)]
		var out api.AddedDatasetItems
		if _, err := from.Call(func(k api.Client) (err error) {
			out, err = k.AddDatasetItems(e.Context, dataset, api.AddDatasetItems{Items: part})
			return err
		}); err != nil {
			return n, fmt.Errorf("items %d to %d were not added: %w", at+1, at+len(part), err)
		}
		n.created += int(out.Created)
		n.skipped += len(out.Skipped)
		for _, s := range out.Skipped {
			e.say(fmt.Sprintf("item %d was skipped: %s", at+int(s.Index)+1, s.Reason))
		}
	}
	return n, nil
}

// caller makes requests.
type caller interface {
	Call(func(api.Client) error) (jsontext.Value, error)
}

// maxItems is the largest file of items: what one reads into memory.
const maxItems = 256 << 20

// readItems reads items from a file, none without one.
func readItems(file string) ([]api.DatasetItemInput, error) {
	if file == "" {
		return nil, nil
	}
	in := io.Reader(os.Stdin)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, mistake("the items cannot be read: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	items, err := decodeItems(in)
	if err != nil {
		return nil, mistake("%s: %w", file, err)
	}
	return items, nil
}

// decodeItems reads one array of items, or one item a line. Fields that no item
// has are refused: an expectation under another name would not be seen.
func decodeItems(in io.Reader) (items []api.DatasetItemInput, err error) {
	r := bufio.NewReader(io.LimitReader(in, maxItems+1))
	whole, err := io.ReadAll(r)
	switch {
	case err != nil:
		return nil, err
	case len(whole) > maxItems:
		return nil, fmt.Errorf("the file is larger than %d MiB: split it", maxItems>>20)
	}
	strict := json.RejectUnknownMembers(true)
	if whole = bytes.TrimSpace(whole); len(whole) > 0 && whole[0] == '[' {
		if err := json.Unmarshal(whole, &items, strict); err != nil {
			return nil, itemError("", err)
		}
		return items, nil
	}
	n := 0
	for line := range bytes.Lines(whole) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var one api.DatasetItemInput
		if err := json.Unmarshal(line, &one, strict); err != nil {
			return nil, itemError(fmt.Sprintf("line %d: ", n), err)
		}
		items = append(items, one)
	}
	return items, nil
}

// itemError says what is wrong with an item.
func itemError(where string, err error) error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName) {
		return fmt.Errorf("%sthe field %s is not one of an item: use input, expectedOutput, output, context, messages, tools, assertions, labels, split, weight or source", where, semantic.JSONPointer.LastToken())
	}
	return fmt.Errorf("%snot an item: write a JSON object such as {\"input\": \"…\", \"expectedOutput\": \"…\"} (%w)", where, err)
}

type datasetFreezeCommand struct {
	datasetArg
	Note string `help:"Note." placeholder:"TEXT"`
	JSON bool   `name:"json" help:"JSON output, as returned by the API."`
}

// Run freezes the items.
func (c datasetFreezeCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c datasetFreezeCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	d, _, err := from.FindDataset(e.Context, c.Dataset)
	if err != nil {
		return err
	}
	var v api.DatasetVersion
	raw, err := from.Call(func(k api.Client) (err error) {
		v, err = k.FreezeDatasetVersion(e.Context, d.ID, api.FreezeDatasetVersion{Note: text(c.Note)})
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	fmt.Fprintf(e.Out, "version %d of %s has %s\n", v.DatasetVersion, terminal.Text(d.Name), count(v.ItemCount))
	return nil
}

type datasetDeleteCommand struct {
	datasetArg
	Yes bool `help:"Confirmation: the dataset and its items are removed."`
}

// Run deletes the dataset.
func (c datasetDeleteCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c datasetDeleteCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	d, _, err := from.FindDataset(e.Context, c.Dataset)
	if err != nil {
		return err
	}
	if !c.Yes {
		return mistake("dataset %s %q with %s would be deleted: repeat with --yes", d.ID, terminal.Text(d.Name), count(d.ItemCount))
	}
	if _, err := from.Call(func(k api.Client) error {
		_, err := k.DeleteDataset(e.Context, d.ID)
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "dataset %s %q is deleted\n", d.ID, terminal.Text(d.Name))
	return nil
}
