package account

import (
	"context"
	_ "embed" // the pages
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi/page"
	"github.com/assayhq/assay/internal/tenancy"
)

//go:embed page.html
var pageText string

var pages = template.Must(template.New("account").Parse(pageText))

func render(name string, data any) template.HTML { return page.Render(pages.Lookup(name), data) }

// RegisterPages adds the pages with which people come in, sign in and out, and make keys.
func (s *Service) RegisterPages(site *page.Site) {
	site.Open("GET /app/invitation", s.showInvitation)
	site.Open("POST /app/invitation", s.acceptInvitation)
	site.Open("GET "+page.SignIn, s.showSignIn)
	site.Open("POST "+page.SignIn, func(ctx context.Context, r *http.Request) (page.Answer, error) {
		return s.signIn(ctx, r, site.Token(r))
	})
	site.Handle("POST /app/sign-out", func(ctx context.Context, r *http.Request) (page.Answer, error) {
		return page.Answer{To: page.SignIn, End: true}, s.SignOut(ctx, site.Token(r))
	})
	site.Handle("GET /app/{$}", func(context.Context, *http.Request) (page.Answer, error) { return page.Answer{To: "/app/keys"}, nil })
	site.Handle("GET /app/keys", func(ctx context.Context, _ *http.Request) (page.Answer, error) { return s.showKeys(ctx, "") })
	site.Handle("POST /app/keys", s.makeKey)
	site.Handle("POST /app/keys/{id}/revoke", s.revokeKey)
}

func (s *Service) showInvitation(ctx context.Context, r *http.Request) (page.Answer, error) {
	token := r.URL.Query().Get("token")
	in, err := s.Invited(ctx, token)
	if err != nil {
		return page.Answer{}, err
	}
	shown := map[string]any{"Invited": in, "Token": token, "Least": minPassword}
	return page.Answer{Title: "Join " + in.Organization, Content: render("invitation", shown)}, nil
}

// accepted is what a program is told whose person has come in.
type accepted struct {
	Organization string `json:"organization_id"`
	User         string `json:"user_id"`
	Key          string `json:"key"`
}

// acceptInvitation lets a person in: in a browser with a session, and in a terminal with a key
// that was made in one.
func (s *Service) acceptInvitation(ctx context.Context, r *http.Request) (page.Answer, error) {
	var sent struct {
		Password string `json:"password"`
	}
	program := page.Program(r)
	if program {
		if err := json.UnmarshalRead(r.Body, &sent); err != nil {
			return page.Answer{}, fault.Invalid("body", "", "format", "must be a JSON object with a password")
		}
	} else {
		sent.Password = r.PostFormValue("password")
		if r.PostFormValue("again") != sent.Password {
			return page.Answer{}, fault.Invalid("body", "/password", "format", "must be the same both times")
		}
	}
	token := r.URL.Query().Get("token")
	in, err := s.Invited(ctx, token)
	if err != nil {
		return page.Answer{}, err
	}
	session, err := s.Accept(ctx, token, sent.Password)
	if err != nil {
		return page.Answer{}, err
	}
	if !program {
		return page.Answer{To: "/app/keys", Session: session.Token.Reveal()}, nil
	}
	ctx = principal.With(ctx, session.Caller)
	key, err := s.FirstKey(ctx, in.Email)
	if err != nil {
		return page.Answer{}, err
	}
	if err := s.SignOut(ctx, session.Token.Reveal()); err != nil {
		return page.Answer{}, err
	}
	return page.Answer{JSON: accepted{session.Caller.Org.String(), session.Caller.User.String(), key.Reveal()}}, nil
}

func (*Service) showSignIn(_ context.Context, r *http.Request) (page.Answer, error) {
	return page.Answer{Title: "Sign in", Content: render("sign-in", r.URL.Query().Get("organization"))}, nil
}

func (s *Service) signIn(ctx context.Context, r *http.Request, before string) (page.Answer, error) {
	org, err := principal.ParseOrgID(strings.TrimSpace(r.PostFormValue("organization")))
	if err != nil {
		return page.Answer{}, ErrSignIn
	}
	session, err := s.SignIn(ctx, org, r.PostFormValue("email"), r.PostFormValue("password"), before)
	if err != nil {
		return page.Answer{}, err
	}
	return page.Answer{To: "/app/keys", Session: session.Token.Reveal()}, nil
}

// showKeys shows the caller's keys, and one that was just made.
func (s *Service) showKeys(ctx context.Context, made string) (page.Answer, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return page.Answer{}, err
	}
	o, err := s.Organization(ctx)
	if err != nil {
		return page.Answer{}, err
	}
	return page.Answer{Title: "My keys", Content: render("keys", map[string]any{
		"Organization": o, "Keys": keys, "Made": made, "Scopes": principal.From(ctx).Role.Scopes(),
	})}, nil
}

func (s *Service) makeKey(ctx context.Context, r *http.Request) (page.Answer, error) {
	name := strings.TrimSpace(r.PostFormValue("name"))
	if name == "" || len(name) > 200 {
		return page.Answer{}, fault.Invalid("body", "/name", "length", "must have 1 to 200 characters")
	}
	var scopes []principal.Scope
	for _, text := range r.PostForm["scope"] {
		if scope := principal.Scope(text); principal.From(ctx).Role.Grants(scope) && scope != principal.AnyKey {
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) == 0 {
		return page.Answer{}, fault.Invalid("body", "/scopes", "required", "must be chosen: at least one")
	}
	var expires *time.Time
	if text := r.PostFormValue("days"); text != "" {
		days, err := strconv.Atoi(text)
		if err != nil || days < 1 || days > 3650 {
			return page.Answer{}, fault.Invalid("body", "/days", "max", "must be 1 to 3650, or nothing")
		}
		at := s.now().AddDate(0, 0, days)
		expires = &at
	}
	key, err := s.MakeKey(ctx, name, scopes, expires)
	if err != nil {
		return page.Answer{}, err
	}
	return s.showKeys(ctx, key.Reveal())
}

func (s *Service) revokeKey(ctx context.Context, r *http.Request) (page.Answer, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return page.Answer{}, tenancy.ErrKeyNotFound
	}
	return page.Answer{To: "/app/keys"}, s.RevokeKey(ctx, id)
}
