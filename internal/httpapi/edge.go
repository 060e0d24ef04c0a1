// Package httpapi is the edge: it turns HTTP into calls of typed handlers and
// their results and faults into HTTP. It knows no domain; domains register
// their operations with it.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
)

// Version is the version of the interface, not of the binary.
const Version = "4.0.1"

// Config of the edge.
type Config struct {
	Addr            string        `setting:"addr" default:":4318" help:"Address of the public listener."`
	InternalAddr    string        `setting:"internal_addr" default:"127.0.0.1:9464" help:"Address of the internal listener for metrics and profiles; empty disables it. Keep it off the public network."`
	RequestTimeout  time.Duration `setting:"request_timeout" default:"30s" help:"Maximum duration of a request."`
	TrustedProxies  []string      `setting:"trusted_proxies" help:"Networks and addresses of the proxies in front of this process, comma-separated. Behind them the caller's address is the last one in X-Forwarded-For that is not a proxy's."`
	DrainDelay      time.Duration `setting:"drain_delay" default:"0s" help:"Time that a shutdown continues to serve while readiness is 503. Behind a load balancer, use slightly more than its check interval."`
	ShutdownTimeout time.Duration `setting:"shutdown_timeout" default:"25s" help:"Maximum wait for accepted requests at shutdown."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.Addr == "" {
		errs = append(errs, errors.New("addr is empty: give host:port, or :port for every address"))
	}
	if c.RequestTimeout <= 0 {
		errs = append(errs, fmt.Errorf("request_timeout is %s: give a positive duration such as 30s", c.RequestTimeout))
	}
	if _, err := parseProxies(c.TrustedProxies); err != nil {
		errs = append(errs, err)
	}
	if c.DrainDelay < 0 || c.DrainDelay >= c.ShutdownTimeout && c.DrainDelay > 0 {
		errs = append(errs, fmt.Errorf("drain_delay is %s: give a duration below shutdown_timeout, which it is part of", c.DrainDelay))
	}
	if c.ShutdownTimeout <= 0 {
		errs = append(errs, fmt.Errorf("shutdown_timeout is %s: give a positive duration such as 25s", c.ShutdownTimeout))
	}
	return errors.Join(errs...)
}

// Authenticator turns the bearer token of a request into its caller, or into
// an Unauthorized or Unavailable fault.
type Authenticator func(ctx context.Context, token string) (principal.Caller, error)

// Options are what the edge is built from.
type Options struct {
	Config       Config
	Authenticate Authenticator
	// ActFor lets a caller act for the user that X-On-Behalf-Of names, or
	// refuses. Nil refuses nobody and ignores the header.
	ActFor func(ctx context.Context, caller principal.Caller, user string) (principal.Caller, error)
	// Admit opens the account of every request of a recognised caller. Nil bounds
	// nothing.
	Admit Admitter
	// Limit counts a request of the caller. Nil counts nothing.
	Limit func(ctx context.Context, caller principal.Caller) (Quota, error)
	// Observe is called for every answered request of a recognised caller. It
	// must not wait.
	Observe func(Outcome)
	// SourceHashes maps an operation's id to the hash of its handler's source.
	SourceHashes map[string]string
	// Reference renders the reference page out of the OpenAPI document. Nil
	// leaves the page empty.
	Reference func(document []byte) ([]byte, error)
	// Webhooks are the types of events that the document describes, by name.
	Webhooks map[string]Webhook
	Pages    http.Handler // serves people below /app/, who have sessions in place of keys
	// Build is the version of the binary, shown by health.
	Build string
	// Ready lists the checks of the readiness operation.
	Ready []Check
	Now   func() time.Time
}

// Edge is the route table and the handler that serves it.
type Edge struct {
	opts      Options
	router    *chi.Mux
	api       huma.API
	ops       []Op
	names     map[reflect.Type]string // public names of wire types
	tags      map[string]string       // descriptions of tags
	public    map[string]bool         // "METHOD path" of operations that need no key
	metered   map[string]bool         // and of those that the hourly limit does not count
	handlers  map[string]Handler      // and what serves raw operations
	draining  atomic.Bool             // the process is going away
	proxies   proxies                 // whose word about addresses counts
	readiness readiness
	started   time.Time

	errorPrefixes []string // of the names of errors that have a form of their own

	sealed   bool
	rendered func() (documents, error)
}

// New builds an edge with its own operations; domains then register theirs,
// and Seal ends the registration.
func New(opts Options) *Edge {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	e := &Edge{
		opts:     opts,
		router:   chi.NewRouter(),
		names:    map[reflect.Type]string{},
		tags:     map[string]string{},
		public:   map[string]bool{},
		metered:  map[string]bool{},
		handlers: map[string]Handler{},
		started:  opts.Now(),
	}
	e.proxies, _ = parseProxies(opts.Config.TrustedProxies) // Validate has said what is wrong
	e.rendered = sync.OnceValues(e.render)
	e.router.Use(e.identify, e.observe, e.recoverPanic, e.bound, middleware.GetHead, e.requireKey)
	e.router.NotFound(func(w http.ResponseWriter, r *http.Request) { writeError(w, r, errRoute) })
	e.router.MethodNotAllowed(e.methodNotAllowed)
	e.Name(edgeSchemas)
	e.Tag(tagOperations, "Health checks and the description of this interface. They need no key.")
	e.api = humachi.New(e.router, e.apiConfig())
	describeWebhooks(e.api.OpenAPI(), opts.Webhooks)
	e.registerHealth()
	e.registerDocuments()
	e.public["GET /"] = true
	e.router.Get("/", e.root)
	e.router.Handle("/app/*", opts.Pages)
	return e
}

// Ops returns the route table, in the order of registration.
func (e *Edge) Ops() []Op { return slices.Clone(e.ops) }

// ServeHTTP serves the whole interface.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.router.ServeHTTP(w, r) }

// Tag describes an area of the interface, for documents.
func (e *Edge) Tag(name, description string) { e.tags[name] = description }

func (e *Edge) add(op Op) {
	if e.sealed {
		panic("httpapi: " + op.ID + " is registered after Seal")
	}
	if op.Scope != principal.Public && op.Scope != principal.AnyKey && !slices.Contains(principal.Scopes, op.Scope) {
		panic("httpapi: " + op.ID + " needs the scope " + string(op.Scope) + ", which no key can have")
	}
	e.ops = append(e.ops, op)
	early := op.Scope == principal.Public || op.Metered
	if early && strings.Contains(op.Path, "{") {
		panic("httpapi: " + op.ID + " is public or metered and has a path parameter: such paths are matched before routing")
	}
	e.public[op.route()] = op.Scope == principal.Public
	e.metered[op.route()] = op.Metered
}

// routePath is the path that the router matches: as sent, if it is escaped.
func routePath(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.Path
}

// methodNotAllowed also gets methods that HTTP does not know, for any route.
func (e *Edge) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		route := m
		if m == "HEAD" {
			route = "GET" // every GET answers HEAD too
		}
		if e.router.Match(chi.NewRouteContext(), route, routePath(r)) {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) == 0 {
		writeError(w, r, errRoute)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeError(w, r, errMethod)
}

func (e *Edge) apiConfig() huma.Config {
	c := huma.DefaultConfig("Assay", Version)
	c.CreateHooks = nil // no $schema links in bodies
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", e.schemaName)
	c.DocsPath, c.OpenAPIPath, c.SchemasPath = "", "", ""
	f := huma.Format{
		Marshal:   func(w io.Writer, v any) error { return json.MarshalWrite(w, v, json.Deterministic(true)) },
		Unmarshal: func([]byte, any) error { return nil }, // the gate has decoded it
	}
	c.Formats = map[string]huma.Format{"application/json": f, "json": f}
	c.OnAddOperation = append(c.OnAddOperation, declareErrors)
	describe(c.OpenAPI)
	return c
}
