package tenancy

import (
	"context"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

const (
	tagViews  = "Views"
	viewsPath = "/api/views"
)

func (s *Service) registerViews(e *httpapi.Edge) {
	e.Tag(tagViews, "Saved filters over lists, of a person or of the organization.")
	e.Name(httpapi.Schemas{"View": viewBody{}, "ViewList": listViewsBody{}, "CreateView": createViewBody{}, "UpdateView": updateViewBody{}})
	httpapi.Register(e, httpapi.Op{
		ID: "listViews", Method: http.MethodGet, Path: viewsPath, Tag: tagViews, Scope: principal.EvalRead, Status: 200,
		Summary:     "List views",
		Description: "Returns the organization's views and your own, newest first.",
	}, s.getViews)
	httpapi.Register(e, httpapi.Op{
		ID: "createView", Method: http.MethodPost, Path: viewsPath, Tag: tagViews, Scope: principal.EvalWrite, Status: 201, Strict: true,
		Summary:     "Create a view",
		Description: "Saves a filter over a list. For a personal view a service key gets 403 `not_a_person`. 409 `view_name_taken` if the list has a view with the name, `too_many_views` if the organization has 1000.",
	}, s.postView)
	httpapi.Register(e, httpapi.Op{
		ID: "getView", Method: http.MethodGet, Path: viewsPath + "/{id}", Tag: tagViews, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a view",
		Description: "Returns one view. The personal view of another member is 404.",
	}, s.getView)
	httpapi.Register(e, httpapi.Op{
		ID: "updateView", Method: http.MethodPatch, Path: viewsPath + "/{id}", Tag: tagViews, Scope: principal.EvalWrite, Status: 200, Strict: true, OptionalBody: true,
		Summary:     "Update a view",
		Description: "Changes the name or the filters of a view. The personal view of another member is 404.",
	}, s.patchView)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteView", Method: http.MethodDelete, Path: viewsPath + "/{id}", Tag: tagViews, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Delete a view",
		Description: "Deletes a view. The personal view of another member is 404.",
	}, s.deleteView)
}

// ViewPath is the path of a view.
type ViewPath struct {
	ID string `path:"id" maxLength:"64" doc:"The id of the view."`
}

type listViewsInput struct {
	httpapi.CursorPage
	List []string `query:"list,explode" enum:"audit_logs,conversations,datasets,end_users,evaluations,results,runs,traces" doc:"Only views of this list. Repeat the parameter to match any of several."`
}

type createViewInput struct{ Body createViewBody }

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

type viewOutput struct {
	ETag string `header:"ETag" doc:"The view's version, to be sent as If-Match."`
	Body viewBody
}

type createdViewOutput struct {
	ETag     string `header:"ETag" doc:"The view's version, to be sent as If-Match."`
	Location string `header:"Location" doc:"Path of the view."`
	Body     viewBody
}

type listViewsOutput struct{ Body listViewsBody }

type listViewsBody struct {
	Views []viewBody `json:"views" doc:"The views of this page, newest first."`
	httpapi.CursorPaging
}

const viewCursor = httpapi.IDCursor("views")

func (s *Service) getViews(ctx context.Context, in *listViewsInput) (*listViewsOutput, error) {
	below, err := viewCursor.Below(in.Cursor)
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	views, total, err := s.Views(ctx, org, ViewFilter{Lists: in.List, Below: below, Limit: in.Limit, Offset: in.Offset, Count: in.IncludeTotal})
	if err != nil {
		return nil, err
	}
	out := &listViewsOutput{}
	views, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, views, total, func(v View) string { return viewCursor.Text(v.ID) })
	creators := make([]principal.Actor, len(views))
	for i, v := range views {
		creators[i] = v.CreatedBy
	}
	shown, err := s.Actors(ctx, org, creators...)
	if err != nil {
		return nil, err
	}
	out.Body.Views = make([]viewBody, len(views))
	for i, v := range views {
		out.Body.Views[i] = toViewBody(v, shown[i])
	}
	return out, nil
}

func (s *Service) postView(ctx context.Context, in *createViewInput) (*createdViewOutput, error) {
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*createdViewOutput, error) {
		v, err := s.CreateViewTx(ctx, tx, View{Name: in.Body.Name, List: in.Body.List, Filters: in.Body.Filters}, in.Body.Personal)
		if err != nil {
			return nil, err
		}
		shown, err := s.showViewTx(ctx, tx, v)
		return &createdViewOutput{ETag: httpapi.ETag(v.Version), Location: viewsPath + "/" + strconv.FormatInt(v.ID, 10), Body: shown}, err
	})
}

func (s *Service) getView(ctx context.Context, in *ViewPath) (*viewOutput, error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	v, err := s.View(ctx, org, id)
	if err != nil {
		return nil, err
	}
	shown, err := s.Actors(ctx, org, v.CreatedBy)
	if err != nil {
		return nil, err
	}
	return &viewOutput{ETag: httpapi.ETag(v.Version), Body: toViewBody(v, shown[0])}, nil
}

func (s *Service) patchView(ctx context.Context, in *updateViewInput) (*viewOutput, error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*viewOutput, error) {
		v, err := s.UpdateViewTx(ctx, tx, id, expected, func(v *View) {
			in.Body.Name.Apply(&v.Name)
			if in.Body.Filters.Sent {
				v.Filters = in.Body.Filters.Value
			}
		})
		if err != nil {
			return nil, err
		}
		shown, err := s.showViewTx(ctx, tx, v)
		return &viewOutput{ETag: httpapi.ETag(v.Version), Body: shown}, err
	})
}

func (s *Service) deleteView(ctx context.Context, in *ViewPath) (*httpapi.DeletedOutput[string], error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		if err := s.DeleteViewTx(ctx, tx, id); err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(in.ID), nil
	})
}

func (p ViewPath) number() (int64, error) {
	id, ok := httpapi.ParseID(p.ID)
	if !ok {
		return 0, ErrViewNotFound
	}
	return id, nil
}

func (s *Service) showViewTx(ctx context.Context, tx postgres.Tx, v View) (viewBody, error) {
	shown, err := s.ActorsTx(ctx, tx, v.CreatedBy)
	if err != nil {
		return viewBody{}, err
	}
	return toViewBody(v, shown[0]), nil
}

// Shown is the view as getView shows it.
func (v View) Shown() any { return toViewBody(v, httpapi.ToActor(v.CreatedBy, "")) }

// Revision is the view's version.
func (v View) Revision() int64 { return v.Version }

func toViewBody(v View, by httpapi.Actor) viewBody {
	return viewBody{
		ID: httpapi.ID(v.ID), Name: v.Name, List: v.List, Filters: v.Filters, Personal: v.Owner != nil, CreatedBy: by,
		CreatedAt: httpapi.Time(v.CreatedAt), UpdatedAt: httpapi.Time(v.UpdatedAt), Version: v.Version,
	}
}
