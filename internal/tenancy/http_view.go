package tenancy

import (
	"context"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

var viewRoutes = resource.Routes{
	One: "view", Many: "views", Tag: "Views", Path: "/api/views", Read: principal.EvalRead, Write: principal.EvalWrite, Strict: true,
}

func (n views) register(e *httpapi.Edge) {
	e.Tag(viewRoutes.Tag, "Saved filters over lists, of a person or of the organization.")
	e.Name(httpapi.Schemas{"View": viewBody{}, "ViewList": listViewsBody{}, "CreateView": createViewBody{}, "UpdateView": updateViewBody{}})
	httpapi.Register(e, viewRoutes.List("listViews", "Returns the organization's views and your own, newest first."), n.getList)
	httpapi.Register(e, viewRoutes.Create("createView",
		"Saves a filter over a list. For a personal view a service key gets 403 `not_a_person`. 409 `view_name_taken` if the list "+
			"has a view with the name, `too_many_views` if the organization has 1000."), n.post)
	httpapi.Register(e, viewRoutes.Get("getView", "Returns one view. The personal view of another member is 404."), n.get)
	httpapi.Register(e, viewRoutes.Update("updateView",
		"Changes the name or the filters of a view. The personal view of another member is 404."), n.patch)
	httpapi.Register(e, viewRoutes.Delete("deleteView", "Deletes a view. The personal view of another member is 404."), n.delete)
}

// ViewPath is the path of a view.
type ViewPath struct {
	ID string `path:"id" maxLength:"64" doc:"The id of the view."`
}

type listViewsInput struct {
	httpapi.CursorPage
	List []string `query:"list,explode" enum:"audit_logs,conversations,datasets,end_users,evaluations,results,runs,traces" doc:"Only views of this list. Repeat the parameter to match any of several."`
}

type createViewBody struct {
	Name     string      `json:"name" minLength:"1" maxLength:"200" example:"Failed in production" doc:"Name, unique among the list's views of the same owner."`
	List     string      `json:"list" enum:"audit_logs,conversations,datasets,end_users,evaluations,results,runs,traces" doc:"The list that is filtered."`
	Filters  viewFilters `json:"filters" doc:"Values of the list's query parameters, by name."`
	Personal bool        `json:"personal,omitzero" doc:"Whether the view is yours alone. Requires a personal key or X-On-Behalf-Of."`
}

// Check refuses names that no query parameter has.
func (b *createViewBody) Check(context.Context) error { return b.Filters.check() }

type updateViewInput struct {
	ViewPath
	httpapi.IfMatch
	Body updateViewBody
}

type updateViewBody struct {
	Name            httpapi.Set[string]      `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name."`
	Filters         httpapi.Set[viewFilters] `json:"filters,omitzero" doc:"New filters, replacing all existing ones."`
	ExpectedVersion int64                    `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

// Check refuses names that no query parameter has.
func (b *updateViewBody) Check(context.Context) error { return b.Filters.Value.check() }

// viewFilters are values of query parameters.
type viewFilters map[string][]string

// maxFilterName is how many characters the name of a filter has.
const maxFilterName = 200

// Schema bounds the filters. The edge does not read the bound of names; check
// does.
func (viewFilters) Schema(huma.Registry) *huma.Schema {
	names, values, length := 30, 50, 1000
	return &huma.Schema{
		Type: huma.TypeObject, MaxProperties: &names,
		AdditionalProperties: &huma.Schema{Type: huma.TypeArray, MaxItems: &values, Items: &huma.Schema{Type: huma.TypeString, MaxLength: &length}},
		Extensions:           map[string]any{"propertyNames": map[string]any{"maxLength": maxFilterName}},
	}
}

func (f viewFilters) check() error {
	for name := range f {
		if utf8.RuneCountInString(name) > maxFilterName {
			return httpapi.Invalid(fault.Field{In: "body", Path: "/filters", Code: "length", Message: "must have names of at most 200 characters", Limit: maxFilterName})
		}
	}
	return nil
}

type viewBody struct {
	ID        httpapi.ID    `json:"id" doc:"Id of the view."`
	Name      string        `json:"name" doc:"Name."`
	List      string        `json:"list" doc:"The list that is filtered."`
	Filters   viewFilters   `json:"filters" doc:"Values of the list's query parameters, by name."`
	Personal  bool          `json:"personal" doc:"Whether only its owner sees the view."`
	CreatedBy httpapi.Actor `json:"created_by" doc:"Who created the view."`
	CreatedAt httpapi.Time  `json:"created_at" doc:"When the view was created."`
	UpdatedAt httpapi.Time  `json:"updated_at" doc:"When the view was changed last."`
	Version   int64         `json:"version" doc:"Counts changes of the view; see If-Match."`
}

// Noun is what documents call it.
func (viewBody) Noun() string { return "view" }

type listViewsBody struct {
	Views []viewBody `json:"views" doc:"The views of this page, newest first."`
	httpapi.CursorPaging
}

func (n views) noun() resource.Noun[View, viewBody] {
	return resource.Noun[View, viewBody]{
		Routes: viewRoutes, Log: n.log, Missing: ErrViewNotFound, Cursor: "views",
		ID:   func(v View) int64 { return v.ID },
		Show: resource.By(n, func(v View) principal.Actor { return v.Creator }, toViewBody),
	}
}

func (n views) getList(ctx context.Context, in *listViewsInput) (*httpapi.Body[listViewsBody], error) {
	shown, paging, err := n.noun().Page(ctx, in.CursorPage, func(p postgres.Page) ([]View, int64, error) {
		return n.List(ctx, principal.From(ctx).Org, in.List, p)
	})
	return httpapi.NewBody(listViewsBody{shown, paging}), err
}

func (n views) post(ctx context.Context, in *httpapi.Body[createViewBody]) (*httpapi.Made[viewBody], error) {
	return n.noun().Create(ctx, func(tx postgres.Tx) (View, error) {
		return n.CreateTx(ctx, tx, View{Name: in.Body.Name, List: in.Body.List, Filters: in.Body.Filters}, in.Body.Personal)
	})
}

func (n views) get(ctx context.Context, in *ViewPath) (*httpapi.Output[viewBody], error) {
	return n.noun().Get(ctx, in.ID, n.Find)
}

func (n views) patch(ctx context.Context, in *updateViewInput) (*httpapi.Output[viewBody], error) {
	return n.noun().Update(ctx, in.ID, in.IfMatch, in.Body.ExpectedVersion, in.Body.apply, n.UpdateTx)
}

func (b updateViewBody) apply(v *View) {
	b.Name.Apply(&v.Name)
	if b.Filters.Sent {
		v.Filters = b.Filters.Value
	}
}

func (n views) delete(ctx context.Context, in *ViewPath) (*httpapi.DeletedOutput[string], error) {
	return n.noun().Delete(ctx, in.ID, n.DeleteTx)
}

// Shown is the view as getView shows it.
func (v View) Shown() any { return toViewBody(v, httpapi.ToActor(v.Creator, "")) }

func toViewBody(v View, by httpapi.Actor) viewBody {
	return viewBody{
		ID: httpapi.ID(v.ID), Name: v.Name, List: v.List, Filters: v.Filters, Personal: v.OwnerID != nil, CreatedBy: by,
		CreatedAt: httpapi.Time(v.CreatedAt), UpdatedAt: httpapi.Time(v.UpdatedAt), Version: v.Version,
	}
}
