package approval

import (
	"context"
	_ "embed" // the page
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/page"
)

//go:embed page.html
var pageText string

var waitingPage = template.Must(template.New("waiting").Parse(pageText))

const pagePath = "/app/approvals"

// RegisterPages adds the page of approvals that wait for the person who looks at it.
func (s *Service) RegisterPages(site *page.Site) {
	site.Handle("GET "+pagePath, s.showWaiting)
	site.Handle("POST "+pagePath+"/{id}", s.decideWaiting)
}

// request is a request for an approval as the page shows it.
type request struct {
	ID, Version                            int64
	Title, Reason, Does, Amount, Uses, Act string
	Expires                                time.Time
	Votes                                  []vote
	Needs                                  []Requirement
}

func (s *Service) showWaiting(ctx context.Context, _ *http.Request) (page.Answer, error) {
	if err := deciding(ctx); err != nil {
		return page.Answer{}, err
	}
	found, err := s.Waiting(ctx)
	if err != nil {
		return page.Answer{}, err
	}
	all := make([]request, len(found))
	for i := range found {
		all[i] = toRequest(&found[i])
	}
	return page.Answer{Title: "Approvals", Content: page.Render(waitingPage, all)}, nil
}

// deciding refuses those whose role cannot decide, as the operation does.
func deciding(ctx context.Context) error {
	if err := httpapi.Require(ctx, principal.TracesRead); err != nil {
		return err
	}
	return httpapi.Require(ctx, principal.AdminOrg)
}

func (s *Service) decideWaiting(ctx context.Context, r *http.Request) (page.Answer, error) {
	if err := deciding(ctx); err != nil {
		return page.Answer{}, err
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return page.Answer{}, ErrNotFound
	}
	version, err := strconv.ParseInt(r.PostFormValue("version"), 10, 64)
	if err != nil || version < 1 {
		return page.Answer{}, fault.Invalid("body", "/version", "required", "is missing: open the page again")
	}
	c := Change{Decision: r.PostFormValue("decision"), Comment: strings.TrimSpace(r.PostFormValue("reason")), Expected: version}
	switch {
	case c.Decision != approved && c.Decision != rejected:
		return page.Answer{}, fault.Invalid("body", "/decision", "enum", "must be approved or rejected")
	case c.Comment == "" || len(c.Comment) > 10_000:
		return page.Answer{}, fault.Invalid("body", "/reason", "length", "must have 1 to 10000 characters")
	}
	return page.Answer{To: pagePath}, s.Decide(ctx, id, c)
}

func toRequest(r *evidence.Record) request {
	v := r.Values
	out := request{
		ID: r.ID, Version: r.Version, Title: v.Title(),
		Reason: v.Text(kind.FieldReason), Amount: v.Text(kind.FieldAmount), Expires: v.ExpiresAt(),
		Does: strings.TrimSuffix(v.SideEffectClass()+", "+v.Reversibility(), ", "),
		Uses: strconv.FormatInt(v.MaxUses(), 10), Votes: votesOf(r), Needs: requirements(r),
	}
	if text := v[kind.FieldRequest].Clone(); len(text) > 0 && text.Indent(jsontext.WithIndent("  ")) == nil {
		out.Act = string(text)
	}
	return out
}
