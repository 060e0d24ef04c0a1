package dataset

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerItems(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listDatasetItems", Method: http.MethodGet, Path: "/api/datasets/{id}/items", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the items of a dataset",
		Description: "The items as they are now, or those of a frozen `version`. Long lists are read with `cursor`.",
	}, s.getItems)
	httpapi.Register(e, httpapi.Op{
		ID: "addDatasetItems", Method: http.MethodPost, Path: "/api/datasets/{id}/items", Tag: tag, Scope: principal.EvalWrite, Status: 201, BodyLimit: httpapi.LargeBodyLimit,
		Summary:     "Add one item, or up to 1,000",
		Description: "The body is one item, or `{\"items\": [...]}`. Content that the dataset already has is skipped and reported, so an import can be repeated.",
	}, s.postItems)
	httpapi.Register(e, httpapi.Op{
		ID: "getDatasetItem", Method: http.MethodGet, Path: "/api/datasets/{id}/items/{itemId}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Get an item",
	}, s.getItem)
	httpapi.Register(e, httpapi.Op{
		ID: "updateDatasetItem", Method: http.MethodPatch, Path: "/api/datasets/{id}/items/{itemId}", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true,
		Summary:     "Update an item",
		Description: "Frozen versions keep the item as it was.",
	}, s.patchItem)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteDatasetItem", Method: http.MethodDelete, Path: "/api/datasets/{id}/items/{itemId}", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Delete an item",
		Description: "Frozen versions keep the item.",
	}, s.deleteItem)
}

// ItemPath is the path of an item.
type ItemPath struct {
	Path
	ItemID string `path:"itemId" maxLength:"32" doc:"The item."`
}

func (p ItemPath) both() (dataset, item int64, err error) {
	if dataset, err = p.dataset(); err != nil {
		return 0, 0, err
	}
	item, ok := httpapi.ParseID(p.ItemID)
	if !ok {
		return 0, 0, ErrItemNotFound
	}
	return dataset, item, nil
}

type listItemsInput struct {
	Path
	httpapi.CursorPage
	Version int `query:"version" minimum:"1" maximum:"2147483647" doc:"A frozen version; absent means the items as they are now."`
}

type getItemInput struct {
	ItemPath
	Version int `query:"version" minimum:"1" maximum:"2147483647" doc:"A frozen version; absent means the item as it is now."`
}

// ItemFields are the fields of an item in requests.
type ItemFields struct {
	Input          httpapi.JSON   `json:"input,omitzero" doc:"What the application is given. Required."`
	ExpectedOutput httpapi.JSON   `json:"expectedOutput,omitzero" doc:"What a good answer is."`
	Output         httpapi.JSON   `json:"output,omitzero" doc:"A recorded answer."`
	Context        httpapi.JSON   `json:"context,omitzero" doc:"Retrieved or given context."`
	Messages       httpapi.JSON   `json:"messages,omitzero" doc:"A conversation."`
	Tools          httpapi.JSON   `json:"tools,omitzero" doc:"Tools that the application may call."`
	Assertions     []httpapi.JSON `json:"assertions,omitzero" maxItems:"1000"`
	Labels         httpapi.JSON   `json:"labels,omitzero" doc:"Free-form; names are kept as sent."`
	Split          splitText      `json:"split,omitzero"`
	Weight         *float64       `json:"weight,omitempty" minimum:"0" maximum:"1000000" doc:"Relative weight; 1 if absent."`
	Source         *sourceBody    `json:"source,omitempty" doc:"Where the item came from."`
}

type sourceBody struct {
	Type string `json:"type" minLength:"1" maxLength:"64" example:"trace"`
	ID   string `json:"id,omitempty" maxLength:"200"`
}

// missing reports whether there is no input; null is none.
func (f ItemFields) missing() bool { return f.Input == nil || string(f.Input) == "null" }

type addItemsInput struct {
	Path
	Body addItemsBody
}

// addItemsBody is one item, or a list of items.
type addItemsBody struct {
	ItemFields
	Items []ItemFields `json:"items,omitzero" minItems:"1" maxItems:"1000"`
}

// Resolve refuses a body that is neither one item nor a list of items.
func (b *addItemsBody) Resolve(huma.Context) []error {
	field := func(path, code, message string) error {
		return fault.Invalid("body", path, code, message)
	}
	if b.Items == nil {
		if b.missing() {
			return []error{field("/input", "one_of_required", "is required: send input, or items")}
		}
		return nil
	}
	if b.Input != nil {
		return []error{field("/items", "mutually_exclusive", "cannot be combined with input")}
	}
	var errs []error
	for i, item := range b.Items {
		if item.missing() {
			errs = append(errs, field("/items/"+strconv.Itoa(i)+"/input", "required", "is required"))
		}
	}
	return errs
}

type updateItemInput struct {
	ItemPath
	Body itemPatch
}

type itemPatch struct {
	Input          httpapi.Patch[httpapi.JSON]   `json:"input,omitzero"`
	ExpectedOutput httpapi.Patch[httpapi.JSON]   `json:"expectedOutput,omitzero"`
	Output         httpapi.Patch[httpapi.JSON]   `json:"output,omitzero"`
	Context        httpapi.Patch[httpapi.JSON]   `json:"context,omitzero"`
	Messages       httpapi.Patch[httpapi.JSON]   `json:"messages,omitzero"`
	Tools          httpapi.Patch[httpapi.JSON]   `json:"tools,omitzero"`
	Assertions     httpapi.Patch[[]httpapi.JSON] `json:"assertions,omitzero"`
	Labels         httpapi.Patch[httpapi.JSON]   `json:"labels,omitzero"`
	Split          httpapi.Patch[splitText]      `json:"split,omitzero"`
	Weight         httpapi.Patch[weightNumber]   `json:"weight,omitzero"`
}

// itemBody is an item on the wire.
type itemBody struct {
	ID             httpapi.ID     `json:"id"`
	Input          httpapi.JSON   `json:"input"`
	ExpectedOutput httpapi.JSON   `json:"expected_output,omitzero"`
	Output         httpapi.JSON   `json:"output,omitzero"`
	Context        httpapi.JSON   `json:"context,omitzero"`
	Messages       httpapi.JSON   `json:"messages,omitzero"`
	Tools          httpapi.JSON   `json:"tools,omitzero"`
	Assertions     []httpapi.JSON `json:"assertions"`
	Labels         httpapi.JSON   `json:"labels,omitzero"`
	Split          *string        `json:"split" enum:"train,dev,test" nullable:"true"`
	Weight         float64        `json:"weight"`
	Source         *sourceBody    `json:"source,omitempty"`
	ContentDigest  string         `json:"content_digest" doc:"Names the content: equal digests, equal content."`
	CreatedAt      httpapi.Time   `json:"created_at"`
}

type itemOutput struct {
	Body itemBody
}

type listItemsOutput struct {
	Body listItemsBody
}

type listItemsBody struct {
	Items []itemBody `json:"items"`
	httpapi.CursorPaging
}

type addedItem struct {
	Index         int        `json:"index" doc:"Position in the request."`
	ID            httpapi.ID `json:"id"`
	ContentDigest string     `json:"content_digest"`
}

type skippedItem struct {
	Index  int        `json:"index" doc:"Position in the request."`
	ID     httpapi.ID `json:"id" doc:"The item that has this content already."`
	Reason string     `json:"reason" enum:"duplicate"`
}

type addItemsOutput struct {
	Body addedItemsBody
}

type addedItemsBody struct {
	Created int           `json:"created"`
	Items   []addedItem   `json:"items"`
	Skipped []skippedItem `json:"skipped"`
}

func (s *Service) getItems(ctx context.Context, in *listItemsInput) (*listItemsOutput, error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	below, err := in.After()
	if err != nil {
		return nil, err
	}
	// One more than asked for tells whether there is a next page.
	items, total, err := s.Items(ctx, principal.From(ctx).Org, id, ItemPage{Version: in.Version, Below: below, Limit: in.Limit + 1, Offset: in.Offset})
	if err != nil {
		return nil, err
	}
	var out listItemsOutput
	items, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, items, total, func(i Item) int64 { return i.ID })
	out.Body.Items = make([]itemBody, len(items))
	for i, item := range items {
		out.Body.Items[i] = toItemBody(item)
	}
	return &out, nil
}

func (s *Service) postItems(ctx context.Context, in *addItemsInput) (*addItemsOutput, error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	list := in.Body.Items
	if list == nil {
		list = []ItemFields{in.Body.ItemFields}
	}
	items := make([]Item, len(list))
	for i, f := range list {
		items[i] = fromItemFields(f)
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*addItemsOutput, error) {
		added, err := s.AddItemsTx(ctx, tx, id, items)
		if err != nil && in.Body.Items == nil {
			err = alone(err)
		}
		if err != nil {
			return nil, err
		}
		return toAddItemsOutput(added), nil
	})
}

func (s *Service) getItem(ctx context.Context, in *getItemInput) (*itemOutput, error) {
	dataset, item, err := in.both()
	if err != nil {
		return nil, err
	}
	i, err := s.FindItem(ctx, principal.From(ctx).Org, dataset, item, in.Version)
	if err != nil {
		return nil, err
	}
	return &itemOutput{Body: toItemBody(i)}, nil
}

func (s *Service) patchItem(ctx context.Context, in *updateItemInput) (*itemOutput, error) {
	dataset, item, err := in.both()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*itemOutput, error) {
		i, err := s.UpdateItemTx(ctx, tx, dataset, item, in.Body.apply)
		if err != nil {
			return nil, err
		}
		return &itemOutput{Body: toItemBody(i)}, nil
	})
}

func (s *Service) deleteItem(ctx context.Context, in *ItemPath) (*httpapi.DeletedOutput[string], error) {
	dataset, item, err := in.both()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		if err := s.DeleteItemTx(ctx, tx, dataset, item); err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(httpapi.ID(item).String()), nil
	})
}

// apply makes the sent changes; null clears a value, except the input, which
// an item cannot be without.
func (p itemPatch) apply(i *Item) {
	set := func(target *jsontext.Value, f httpapi.Patch[httpapi.JSON]) {
		if f.Sent {
			*target = jsontext.Value(f.Value)
		}
	}
	if !p.Input.Null {
		set(&i.Content.Input, p.Input)
	}
	set(&i.Content.ExpectedOutput, p.ExpectedOutput)
	set(&i.Content.Output, p.Output)
	set(&i.Content.Context, p.Context)
	set(&i.Content.Messages, p.Messages)
	set(&i.Content.Tools, p.Tools)
	set(&i.Content.Labels, p.Labels)
	if p.Assertions.Sent {
		i.Content.Assertions = toValues(p.Assertions.Value)
	}
	if p.Split.Sent {
		i.Split = string(p.Split.Value)
	}
	if p.Weight.Sent {
		i.Weight = 1
		if !p.Weight.Null {
			i.Weight = float64(p.Weight.Value)
		}
	}
}

func fromItemFields(f ItemFields) Item {
	i := Item{
		Content: Content{
			Input: jsontext.Value(f.Input), ExpectedOutput: jsontext.Value(f.ExpectedOutput), Output: jsontext.Value(f.Output),
			Context: jsontext.Value(f.Context), Messages: jsontext.Value(f.Messages), Tools: jsontext.Value(f.Tools),
			Assertions: toValues(f.Assertions), Labels: jsontext.Value(f.Labels),
		},
		Split:  string(f.Split),
		Weight: 1,
	}
	if f.Weight != nil {
		i.Weight = *f.Weight
	}
	if f.Source != nil {
		i.Source = Source{Type: f.Source.Type, ID: f.Source.ID}
	}
	return i
}

func toItemBody(i Item) itemBody {
	b := itemBody{
		ID: httpapi.ID(i.ID), Input: httpapi.JSON(i.Content.Input), ExpectedOutput: httpapi.JSON(i.Content.ExpectedOutput),
		Output: httpapi.JSON(i.Content.Output), Context: httpapi.JSON(i.Content.Context), Messages: httpapi.JSON(i.Content.Messages),
		Tools: httpapi.JSON(i.Content.Tools), Assertions: make([]httpapi.JSON, len(i.Content.Assertions)), Labels: httpapi.JSON(i.Content.Labels),
		Weight: i.Weight, ContentDigest: i.Digest.String(), CreatedAt: httpapi.Time(i.CreatedAt),
	}
	for n, a := range i.Content.Assertions {
		b.Assertions[n] = httpapi.JSON(a)
	}
	if i.Split != "" {
		b.Split = &i.Split
	}
	if i.Source.Type != "" {
		b.Source = &sourceBody{Type: i.Source.Type, ID: i.Source.ID}
	}
	return b
}

func toAddItemsOutput(added []Added) *addItemsOutput {
	var out addItemsOutput
	out.Body.Items, out.Body.Skipped = []addedItem{}, []skippedItem{}
	for _, a := range added {
		if a.Duplicate {
			out.Body.Skipped = append(out.Body.Skipped, skippedItem{Index: a.Index, ID: httpapi.ID(a.ID), Reason: "duplicate"})
			continue
		}
		out.Body.Items = append(out.Body.Items, addedItem{Index: a.Index, ID: httpapi.ID(a.ID), ContentDigest: a.Digest.String()})
	}
	out.Body.Created = len(out.Body.Items)
	return &out
}

func toValues(list []httpapi.JSON) []jsontext.Value {
	if len(list) == 0 {
		return nil
	}
	out := make([]jsontext.Value, len(list))
	for i, v := range list {
		out[i] = jsontext.Value(v)
	}
	return out
}
