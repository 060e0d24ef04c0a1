package cli

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type datasetCommand struct {
	List   datasetListCommand   `cmd:"" help:"List datasets."`
	Show   datasetShowCommand   `cmd:"" help:"Show a dataset."`
	Create datasetCreateCommand `cmd:"" help:"Create a dataset, optionally with items from a file."`
	Import importCommand        `cmd:"" help:"Add the items of a CSV or JSONL file to a dataset."`
	Export exportCommand        `cmd:"" help:"Write the items of a dataset to a CSV or JSONL file."`
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

// datasetArg names a dataset.
type datasetArg struct {
	Dataset string `arg:"" help:"ID or name of the dataset."`
	remote
}

// find returns the dataset, and as the server wrote it.
func (a datasetArg) find(e *Environment) (from *client.Client, found api.Dataset, raw jsontext.Value, err error) {
	if from, err = a.client(e); err == nil {
		found, raw, err = from.FindDataset(e.Context, a.Dataset)
	}
	return from, found, raw, err
}

type datasetShowCommand struct {
	datasetArg
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run prints the dataset.
func (c datasetShowCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c datasetShowCommand) run(e *Environment) error {
	_, d, raw, err := c.find(e)
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
	Items       string   `help:"CSV or JSONL file with items." placeholder:"FILE"`
	JSON        bool     `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (datasetCreateCommand) Help() string { return itemsHelp }

const itemsHelp = `An item is an object with input and, as needed, expectedOutput, output, context, messages, labels, split and weight. In a JSONL file each line is an item, in a CSV file each line after the header:

    {"input": "Where is my invoice?", "expectedOutput": "Under Billing."}

` + codes + `

The key needs the scope eval:write.`

// Run creates the dataset.
func (c datasetCreateCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c datasetCreateCommand) run(e *Environment) error {
	file := itemSource{File: c.Items}
	if c.Items != "" {
		if err := file.open(e); err != nil {
			return err
		}
		defer file.close()
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
	if c.Items != "" {
		if _, err := file.send(e, from, made.ID); err != nil {
			return err
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

type datasetFreezeCommand struct {
	datasetArg
	Note string `help:"Note." placeholder:"TEXT"`
	JSON bool   `name:"json" help:"JSON output, as returned by the API."`
}

// Run freezes the items.
func (c datasetFreezeCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c datasetFreezeCommand) run(e *Environment) error {
	from, d, _, err := c.find(e)
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
	from, d, _, err := c.find(e)
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
