package dataset

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func (s *Service) registerItems(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listDatasetItems", Method: http.MethodGet, Path: "/api/datasets/{id}/items", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the items of a dataset",
		Description: "Returns the current items, newest first, or those of a frozen version if `datasetVersion` is given. Read long lists with `cursor`. A page ends after 8 MiB of items, however few these are; `has_more` then says that there are others.",
	}, s.getItems)
	httpapi.Register(e, httpapi.Op{
		ID: "addDatasetItems", Method: http.MethodPost, Path: "/api/datasets/{id}/items", Tag: tag, Scope: principal.EvalWrite, Status: 201, BodyLimit: httpapi.LargeBodyLimit,
		Summary:     "Add items to a dataset",
		Description: "The body is one item, or `{\"items\": [...]}` with up to 1,000, each of at most 4 MiB. An item whose content the dataset already has is skipped and reported, so an import can be repeated.",
	}, s.postItems)
	httpapi.Register(e, httpapi.Op{
		ID: "getDatasetItem", Method: http.MethodGet, Path: "/api/datasets/{id}/items/{itemId}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get an item",
		Description: "Returns the item as it is now, or as a frozen version has it if `datasetVersion` is given.",
	}, s.getItem)
	httpapi.Register(e, httpapi.Op{
		ID: "updateDatasetItem", Method: http.MethodPatch, Path: "/api/datasets/{id}/items/{itemId}", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true,
		Summary:     "Update an item",
		Description: "Changes the fields that are sent and leaves the others as they are. Frozen versions keep the item as it was. The source cannot be changed.",
	}, s.patchItem)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteDatasetItem", Method: http.MethodDelete, Path: "/api/datasets/{id}/items/{itemId}", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Delete an item",
		Description: "Removes the item from the dataset. Frozen versions keep it.",
	}, s.deleteItem)
	httpapi.Register(e, httpapi.Op{
		ID: "updateDatasetItems", Method: http.MethodPatch, Path: "/api/datasets/{id}/items", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Update many items",
		Description: "Makes the same change to up to 1,000 items: their labels, split or weight. All change, or none. Ids that the dataset does not have are listed in `missing`. Frozen versions keep the items as they were.",
	}, s.patchItems)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteDatasetItems", Method: http.MethodPost, Path: "/api/datasets/{id}/items/delete", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Delete many items",
		Description: "Removes up to 1,000 items from the dataset. Ids that the dataset does not have are listed in `missing`, so the request can be repeated. Frozen versions keep the items.",
	}, s.postDeleteItems)
}

// ItemPath is the path of an item.
type ItemPath struct {
	Path
	ItemID string `path:"itemId" maxLength:"32" doc:"The id of the item."`
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
	DatasetVersion int `query:"datasetVersion" minimum:"1" maximum:"2147483647" doc:"Number of a frozen version; if absent, the current items are returned."`
}

type getItemInput struct {
	ItemPath
	DatasetVersion int `query:"datasetVersion" minimum:"1" maximum:"2147483647" doc:"Number of a frozen version; if absent, the current item is returned."`
}

// ItemFields are the fields of an item in requests.
type ItemFields struct {
	Input          httpapi.JSON   `json:"input,omitzero" doc:"What the application is given: any JSON value but null. Required."`
	ExpectedOutput httpapi.JSON   `json:"expectedOutput,omitzero" doc:"What a good answer is: any JSON value."`
	Output         httpapi.JSON   `json:"output,omitzero" doc:"A recorded answer: any JSON value."`
	Context        httpapi.JSON   `json:"context,omitzero" doc:"Retrieved or given context: any JSON value."`
	Messages       httpapi.JSON   `json:"messages,omitzero" doc:"A conversation: any JSON value."`
	Tools          httpapi.JSON   `json:"tools,omitzero" doc:"Tools that the application may call: any JSON value."`
	Assertions     []httpapi.JSON `json:"assertions,omitzero" maxItems:"1000" doc:"Checks that an answer must pass."`
	Labels         httpapi.JSON   `json:"labels,omitzero" doc:"Labels, stored as sent: any JSON value."`
	Split          string         `json:"split,omitzero" enum:"train,dev,test" doc:"The part of the dataset that the item belongs to."`
	Weight         *float64       `json:"weight,omitempty" minimum:"0" maximum:"1000000" doc:"Relative weight; 1 if absent."`
	Source         *sourceInput   `json:"source,omitempty" doc:"Where the item came from."`
}

type sourceInput struct {
	Type string `json:"type" minLength:"1" maxLength:"64" example:"trace" doc:"Kind of source."`
	ID   string `json:"id,omitempty" maxLength:"200" doc:"Id of the source, as its own system knows it."`
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
	Items []ItemFields `json:"items,omitzero" minItems:"1" maxItems:"1000" doc:"The items to add; cannot be combined with input."`
}

// Check refuses a body that is neither one item nor a list of items.
func (b *addItemsBody) Check(context.Context) error {
	if b.Items == nil {
		if b.missing() {
			return fault.Invalid("body", "/input", "one_of_required", "is required: send input, or items")
		}
		return nil
	}
	if b.Input != nil {
		return fault.Invalid("body", "/items", "mutually_exclusive", "cannot be combined with input")
	}
	var fields []fault.Field
	for i, item := range b.Items {
		if item.missing() {
			fields = append(fields, fault.Field{In: "body", Path: "/items/" + strconv.Itoa(i) + "/input", Code: "required", Message: "is required"})
		}
	}
	return httpapi.Invalid(fields...)
}

type updateItemInput struct {
	ItemPath
	httpapi.IfMatch
	Body itemPatch
}

type itemPatch struct {
	Input           httpapi.Set[httpapi.JSON]     `json:"input,omitzero" doc:"New input: any JSON value but null."`
	ExpectedOutput  httpapi.Patch[httpapi.JSON]   `json:"expectedOutput,omitzero" doc:"New expected output; null removes it."`
	Output          httpapi.Patch[httpapi.JSON]   `json:"output,omitzero" doc:"New recorded answer; null removes it."`
	Context         httpapi.Patch[httpapi.JSON]   `json:"context,omitzero" doc:"New context; null removes it."`
	Messages        httpapi.Patch[httpapi.JSON]   `json:"messages,omitzero" doc:"New conversation; null removes it."`
	Tools           httpapi.Patch[httpapi.JSON]   `json:"tools,omitzero" doc:"New tools; null removes them."`
	Assertions      httpapi.Patch[[]httpapi.JSON] `json:"assertions,omitzero" doc:"New assertions, replacing all existing ones; null removes them."`
	Labels          httpapi.Patch[httpapi.JSON]   `json:"labels,omitzero" doc:"New labels; null removes them."`
	Split           httpapi.Patch[string]         `json:"split,omitzero" enum:"train,dev,test" doc:"New split; null removes it."`
	Weight          httpapi.Patch[float64]        `json:"weight,omitzero" minimum:"0" maximum:"1000000" doc:"New weight; null resets it to 1."`
	ExpectedVersion int64                         `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

// itemBody is an item on the wire.
type itemBody struct {
	ID             httpapi.ID               `json:"id" doc:"Id of the item, the same in every frozen version."`
	Input          httpapi.JSON             `json:"input" doc:"What the application is given."`
	ExpectedOutput httpapi.JSON             `json:"expected_output" doc:"What a good answer is."`
	Output         httpapi.JSON             `json:"output" doc:"A recorded answer."`
	Context        httpapi.JSON             `json:"context" doc:"Retrieved or given context."`
	Messages       httpapi.JSON             `json:"messages" doc:"A conversation."`
	Tools          httpapi.JSON             `json:"tools" doc:"Tools that the application may call."`
	Assertions     []httpapi.JSON           `json:"assertions" doc:"Checks that an answer must pass."`
	Labels         httpapi.JSON             `json:"labels" doc:"Labels, as they were sent."`
	Split          *string                  `json:"split" enum:"train,dev,test" doc:"The part of the dataset that the item belongs to."`
	Weight         float64                  `json:"weight" doc:"Relative weight."`
	Source         httpapi.Null[sourceBody] `json:"source" doc:"Where the item came from."`
	ContentDigest  string                   `json:"content_digest" doc:"Digest of everything but the source: items with equal digests have equal content."`
	CreatedAt      httpapi.Time             `json:"created_at" doc:"When the item was added."`
	UpdatedAt      httpapi.Time             `json:"updated_at" doc:"When the item last changed."`
	Version        int64                    `json:"version" doc:"Counts changes of the item; see If-Match."`
}

type sourceBody struct {
	Type string  `json:"type" doc:"Kind of source."`
	ID   *string `json:"id" doc:"Id of the source, as its own system knows it."`
}

// Noun is what documents call it.
func (itemBody) Noun() string { return "item" }

type listItemsBody struct {
	Items []itemBody `json:"items" doc:"The items of this page, newest first."`
	httpapi.CursorPaging
}

const itemCursor = httpapi.IDCursor("dataset items")

type addedItem struct {
	Index         int        `json:"index" doc:"Position in the request, from 0."`
	ID            httpapi.ID `json:"id" doc:"Id of the new item."`
	ContentDigest string     `json:"content_digest" doc:"Digest of the item's content."`
}

type skippedItem struct {
	Index  int        `json:"index" doc:"Position in the request, from 0."`
	ID     httpapi.ID `json:"id" doc:"Id of the item that has this content already."`
	Reason string     `json:"reason" enum:"duplicate" doc:"Why the item was not added."`
}

type addItemsOutput struct {
	Location string `header:"Location" doc:"Path of the item if the request has one; otherwise the path of the dataset's items."`
	Body     addedItemsBody
}

type addedItemsBody struct {
	Created int           `json:"created" doc:"Number of items that were added."`
	Items   []addedItem   `json:"items" doc:"The items that were added."`
	Skipped []skippedItem `json:"skipped" doc:"The items that were not added."`
	Ignored []string      `json:"ignored_fields" doc:"JSON Pointers of fields that items do not have and that were left out, such as a misspelt one; at most 50."`
}

func (s *Service) getItems(ctx context.Context, in *listItemsInput) (*httpapi.Body[listItemsBody], error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	below, err := itemCursor.Below(in.Cursor)
	if err != nil {
		return nil, err
	}
	var page ItemList
	err = admission.From(ctx).Read(ctx, PageBytes, func() (int, error) {
		page, err = s.Items(ctx, principal.From(ctx).Org, id, ItemPage{Version: in.DatasetVersion, Below: below, Limit: in.Limit, Offset: in.Offset})
		return page.bytes(), err
	})
	if err != nil {
		return nil, err
	}
	var out httpapi.Body[listItemsBody]
	var next string
	out.Body.Items = make([]itemBody, len(page.Items))
	for i, item := range page.Items {
		out.Body.Items[i] = toItemBody(item)
		if page.More {
			next = itemCursor.Text(item.ID)
		}
	}
	out.Body.CursorPaging = in.Paging(next, page.Total)
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
	prepare := func() (Prepared, error) { return s.PrepareItems(ctx, principal.From(ctx).Org, id, items) }
	return Retry(prepare, func(p Prepared) (*addItemsOutput, error) {
		return change.Do(ctx, s.log, func(tx postgres.Tx) (*addItemsOutput, error) {
			added, err := s.AddItemsTx(ctx, tx, p)
			if err != nil && in.Body.Items == nil {
				err = alone(err)
			}
			if err != nil {
				return nil, err
			}
			return toAddItemsOutput(id, added, request.From(ctx).Ignored), nil
		})
	})
}

func (s *Service) getItem(ctx context.Context, in *getItemInput) (*httpapi.Output[itemBody], error) {
	dataset, item, err := in.both()
	if err != nil {
		return nil, err
	}
	i, err := s.FindItem(ctx, principal.From(ctx).Org, dataset, item, in.DatasetVersion)
	if err != nil {
		return nil, err
	}
	return toItemOutput(i), nil
}

func (s *Service) patchItem(ctx context.Context, in *updateItemInput) (*httpapi.Output[itemBody], error) {
	dataset, item, err := in.both()
	if err != nil {
		return nil, err
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	prepare := func() (Prepared, error) {
		return s.PrepareUpdate(ctx, principal.From(ctx).Org, dataset, item, in.Body.apply)
	}
	return Retry(prepare, func(p Prepared) (*httpapi.Output[itemBody], error) {
		return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Output[itemBody], error) {
			i, err := s.UpdateItemTx(ctx, tx, item, expected, p)
			if err != nil {
				return nil, err
			}
			return toItemOutput(i), nil
		})
	})
}

func (s *Service) deleteItem(ctx context.Context, in *ItemPath) (*httpapi.DeletedOutput[string], error) {
	dataset, item, err := in.both()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		return httpapi.NewDeleted(in.ItemID), s.DeleteItemTx(ctx, tx, dataset, item)
	})
}

// apply makes the sent changes; null clears a value.
func (p itemPatch) apply(i *Item) {
	set := func(target *jsontext.Value, f httpapi.Patch[httpapi.JSON]) {
		if f.Sent {
			*target = jsontext.Value(f.Value)
		}
	}
	if p.Input.Sent {
		i.Content.Input = jsontext.Value(p.Input.Value)
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
	p.Split.Apply(&i.Split)
	if p.Weight.Sent {
		i.Weight = 1
		if !p.Weight.Null {
			i.Weight = p.Weight.Value
		}
	}
}

func fromItemFields(f ItemFields) Item {
	i := Item{
		Content: Content{
			Input: jsontext.Value(f.Input), ExpectedOutput: fromJSON(f.ExpectedOutput), Output: fromJSON(f.Output),
			Context: fromJSON(f.Context), Messages: fromJSON(f.Messages), Tools: fromJSON(f.Tools),
			Assertions: toValues(f.Assertions), Labels: fromJSON(f.Labels),
		},
		Split:  f.Split,
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

// fromJSON is a value of an item; null is none, as it is in responses.
func fromJSON(v httpapi.JSON) jsontext.Value {
	if string(v) == "null" {
		return nil
	}
	return jsontext.Value(v)
}

func toItemOutput(i Item) *httpapi.Output[itemBody] {
	return &httpapi.Output[itemBody]{ETag: httpapi.ETag(i.Version), Body: toItemBody(i)}
}

// Shown is the item as getDatasetItem shows it.
func (i Item) Shown() any { return toItemBody(i) }

// Revision counts changes of the item.
func (i Item) Revision() int64 { return i.Version }

func toItemBody(i Item) itemBody {
	b := itemBody{
		ID: httpapi.ID(i.ID), Input: httpapi.JSON(i.Content.Input), ExpectedOutput: httpapi.JSON(i.Content.ExpectedOutput),
		Output: httpapi.JSON(i.Content.Output), Context: httpapi.JSON(i.Content.Context), Messages: httpapi.JSON(i.Content.Messages),
		Tools: httpapi.JSON(i.Content.Tools), Assertions: make([]httpapi.JSON, len(i.Content.Assertions)), Labels: httpapi.JSON(i.Content.Labels),
		Split: httpapi.OrNull(i.Split), Weight: i.Weight, ContentDigest: i.Digest.String(),
		CreatedAt: httpapi.Time(i.CreatedAt), UpdatedAt: httpapi.Time(i.UpdatedAt), Version: i.Version,
	}
	for n, a := range i.Content.Assertions {
		b.Assertions[n] = httpapi.JSON(a)
	}
	if i.Source.Type != "" {
		b.Source = httpapi.NullOf(&sourceBody{Type: i.Source.Type, ID: httpapi.OrNull(i.Source.ID)})
	}
	return b
}

func toAddItemsOutput(dataset int64, added []Added, ignored []string) *addItemsOutput {
	out := addItemsOutput{Location: routes.At(dataset) + "/items"}
	out.Body.Ignored = append([]string{}, ignored...)
	if len(added) == 1 {
		out.Location += "/" + strconv.FormatInt(added[0].ID, 10)
	}
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
