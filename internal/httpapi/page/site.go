package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the layout
	"encoding/base64"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
)

// SignIn is the page for whoever has no session.
const SignIn = "/app/sign-in"

// bodyLimit is how long a form may be.
const bodyLimit = 64 << 10

// Options are what a site is built from.
type Options struct {
	// Session finds whose session a token names, or refuses with an Unauthorized fault.
	Session func(ctx context.Context, token string) (principal.Caller, error)
	// Admit opens the account of a request of a recognised person; nil bounds nothing.
	Admit func(ctx context.Context, org principal.OrgID) (context.Context, func())
	// Plain is true if browsers come over plain http, to this machine: then the cookie cannot
	// be kept to encrypted connections.
	Plain bool
}

// Site is the pages for people.
type Site struct {
	opts  Options
	mux   *http.ServeMux
	guard *http.CrossOriginProtection
}

// Answer is what a page answers.
type Answer struct {
	// Title and Content make a page; To leads to another one instead, and JSON is the answer to
	// a program.
	Title   string
	Content template.HTML
	To      string
	JSON    any
	// Session is a new session's token, and End ends the current one in the browser.
	Session string
	End     bool
}

// Handler answers one kind of request. The context has the caller, if there is a session.
type Handler func(ctx context.Context, r *http.Request) (Answer, error)

// New returns a site without pages.
func New(opts Options) *Site {
	s := &Site{opts: opts, mux: http.NewServeMux(), guard: http.NewCrossOriginProtection()}
	s.mux.HandleFunc("/app/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoPage) })
	return s
}

// Open adds a page that needs no session.
func (s *Site) Open(pattern string, h Handler) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, h) })
}

// Handle adds a page for people who have signed in.
func (s *Site) Handle(pattern string, h Handler) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		caller, err := s.opts.Session(r.Context(), s.Token(r))
		if f, ok := fault.From(err); ok && f.Kind == fault.Unauthorized {
			http.Redirect(w, r, SignIn, http.StatusSeeOther)
			return
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if caller.Suspended {
			s.fail(w, r, errSuspended)
			return
		}
		ctx := principal.With(r.Context(), caller)
		if s.opts.Admit != nil {
			with, done := s.opts.Admit(ctx, caller.Org)
			defer done()
			ctx = with
		}
		s.answer(w, r.WithContext(ctx), h)
	})
}

// ServeHTTP serves the pages.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin") // addresses may have a token; forms need to say where they come from
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if err := s.guard.Check(r); err != nil {
		s.fail(w, r, errOtherSite)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	s.mux.ServeHTTP(w, r)
}

// Faults of pages.
var (
	errNoPage    = fault.New(fault.NotFound, "page_not_found", "This page does not exist.")
	errSuspended = fault.New(fault.Forbidden, "organization_suspended", "The organization is suspended. Contact the operator of this deployment.")
	errFailed    = fault.New(fault.Internal, "internal_error", "Something went wrong. The operator finds what in the log.")
	errOtherSite = fault.New(fault.Forbidden, "other_site", "The request comes from another site. Open the page here, and repeat it.")
)

// cookie is the name of the session's cookie. A browser takes the first name over encrypted
// connections only, and from no other host.
func (s *Site) cookie() string {
	if s.opts.Plain {
		return "assay-session"
	}
	return "__Host-assay"
}

// Token is the token of the session that a request names; empty if it names none.
func (s *Site) Token(r *http.Request) string {
	c, err := r.Cookie(s.cookie())
	if err != nil {
		return ""
	}
	return c.Value
}

func (s *Site) answer(w http.ResponseWriter, r *http.Request, h Handler) {
	a, err := h(r.Context(), r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if a.Session != "" || a.End {
		//nolint:gosec // Secure is off for plain http alone, which the settings allow on this machine only
		c := &http.Cookie{Name: s.cookie(), Value: a.Session, Path: "/", Secure: !s.opts.Plain, HttpOnly: true, SameSite: http.SameSiteLaxMode}
		if a.End {
			c.MaxAge = -1
		}
		http.SetCookie(w, c)
	}
	switch {
	case a.JSON != nil:
		writeJSON(w, r, http.StatusOK, a.JSON)
	case a.To != "":
		http.Redirect(w, r, a.To, http.StatusSeeOther)
	default:
		s.write(w, r, http.StatusOK, a)
	}
}

// Program reports whether a request was sent by a program, which is answered in JSON.
func Program(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}

// statuses are those of the faults that pages have; any other is an internal one.
var statuses = map[fault.Kind]int{
	fault.Unauthorized: http.StatusUnauthorized,
	fault.RateLimited:  http.StatusTooManyRequests,
	fault.Validation:   http.StatusBadRequest,
	fault.NotFound:     http.StatusNotFound,
	fault.Forbidden:    http.StatusForbidden,
	fault.Conflict:     http.StatusConflict,
	fault.Unavailable:  http.StatusServiceUnavailable,
	fault.Internal:     http.StatusInternalServerError,
}

// fail answers with what is wrong.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, err error) {
	f, ok := fault.From(err)
	if !ok || statuses[f.Kind] == 0 {
		slog.ErrorContext(r.Context(), "page failed", "request_id", request.From(r.Context()).ID, "error", err.Error())
		f = errFailed
	}
	if Program(r) {
		writeJSON(w, r, statuses[f.Kind], failure{failureDetails{
			Code: string(f.Kind), Message: f.Error(), Details: map[string]any{"reason": f.Reason}, RequestID: request.From(r.Context()).ID,
		}})
		return
	}
	s.write(w, r, statuses[f.Kind], Answer{Title: "That did not work", Content: Render(problem, map[string]any{"Text": sentence(f)})})
}

// failure is an error as the interface shows it.
type failure struct {
	Error failureDetails `json:"error"`
}

type failureDetails struct {
	Code      string         `json:"code"`
	Message   string         `json:"message"`
	Details   map[string]any `json:"details"`
	RequestID string         `json:"requestId"`
}

// sentence is a fault for somebody who filled in a form.
func sentence(f *fault.Error) string {
	if len(f.Fields) == 0 {
		return f.Message
	}
	var all []string
	for _, field := range f.Fields {
		all = append(all, strings.TrimPrefix(field.Path, "/")+" "+field.Message+".")
	}
	return strings.Join(all, " ")
}

func writeJSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		slog.ErrorContext(r.Context(), "page not written", "error", err.Error())
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

//go:embed style.css
var style string

//go:embed layout.html
var layoutText string

var (
	layout  = template.Must(template.New("layout").Parse(layoutText))
	problem = template.Must(template.New("problem").Parse(`<section><p class="notice">{{.Text}}</p><p>Go back and try again.</p></section>`))
	policy  = "default-src 'none'; style-src 'sha256-" + digest(style) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// digest is how a policy names the style sheet.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func (*Site) write(w http.ResponseWriter, r *http.Request, status int, a Answer) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(Render(layout, map[string]any{
		"Title": a.Title, "Content": a.Content, "Style": template.CSS(style), //nolint:gosec // it is our own
		"SignedIn": principal.From(r.Context()).User != nil && !a.End,
	})))
}

// Render is a template with its data, as the content of a page. A template that cannot be
// rendered is a mistake of ours.
func Render(t *template.Template, data any) template.HTML {
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		panic(err)
	}
	return template.HTML(out.String()) //nolint:gosec // a template has escaped it
}
