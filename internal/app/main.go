package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/assayhq/assay/internal/command/cli"
	"github.com/assayhq/assay/internal/platform/telemetry"
)

// commandLine is the whole command line.
type commandLine struct {
	Config string `help:"YAML file with settings (default: ASSAY_CONFIG). Environment variables take precedence." type:"path" placeholder:"FILE"`

	All    allCommand    `cmd:"" group:"run" help:"Run migrations, then the server and the worker in one process."`
	Serve  serveCommand  `cmd:"" group:"run" help:"Run the HTTP server."`
	Worker workerCommand `cmd:"" group:"run" help:"Run the worker: workflows and the outbox."`

	SimulateProvider simulateProviderCommand `cmd:"" group:"use" help:"Run a simulated model provider, for trials and tests."`
	cli.Commands

	Migrate migrateCommand `cmd:"" group:"operate" help:"Migrate the PostgreSQL and ClickHouse schemas."`
	Admin   adminCommand   `cmd:"" group:"operate" help:"Manage organizations, plans and master keys."`
	Showcfg configCommand  `cmd:"" group:"operate" name:"config" help:"Print every setting with its value and source. Secrets are hidden."`
	Health  healthCommand  `cmd:"" group:"operate" help:"Check whether a running process is ready."`

	OpenAPI openapiCommand `cmd:"" group:"inspect" name:"openapi" help:"Print the OpenAPI document."`
	Version versionCommand `cmd:"" group:"inspect" help:"Print the version."`
}

const description = `Assay is a self-hosted platform for evaluating LLM applications and agents.

Set options as environment variables or in a YAML file; ` + "`assay config`" + ` lists them. To get started:

    assay migrate
    assay admin bootstrap --organization "My team"
    assay all`

// environment is the surroundings of a command of the server.
type environment struct {
	ctx     context.Context
	config  string
	environ []string
	build   string
	out     io.Writer
	errOut  io.Writer
}

// Main runs one command, in the environment given, and returns the process's
// exit code: 0 for success, 1 for a failure, 2 for a command line that cannot
// be read. Commands about runs use 3 for inconclusive.
func Main(build string, args, environ []string, out, errOut io.Writer) int {
	var c commandLine
	return cli.Execute(&c, args, out, errOut, func(k *kong.Context) error {
		for _, kv := range environ {
			if file, ok := strings.CutPrefix(kv, "ASSAY_CONFIG="); ok && c.Config == "" {
				c.Config = file
			}
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		server := &environment{ctx: ctx, config: c.Config, environ: environ, build: build, out: out, errOut: errOut}
		return k.Run(server, &cli.Environment{Context: ctx, Environ: environ, Out: out, ErrOut: errOut, Inspect: server.inspect})
	}, kong.Description(description), kong.ExplicitGroups([]kong.Group{
		{Key: "run", Title: "Processes:"}, {Key: "use", Title: "Evaluation and traces:"}, {Key: "things", Title: "Resources:"}, {Key: "setup", Title: "Setup:"}, {Key: "operate", Title: "Administration:"}, {Key: "inspect", Title: "Information:"},
	}))
}

type (
	serveCommand  struct{}
	workerCommand struct{}
	allCommand    struct{}
)

// Run serves.
func (serveCommand) Run(e *environment) error { return e.play(RoleServe) }

// Run works.
func (workerCommand) Run(e *environment) error { return e.play(RoleWorker) }

// Run migrates, serves and works.
func (allCommand) Run(e *environment) error { return e.play(RoleAll) }

// play runs a role until a signal ends it.
func (e *environment) play(role Role) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	slog.SetDefault(telemetry.Logger(cfg.Telemetry, os.Stderr))
	stop, err := telemetry.Start(e.ctx, cfg.Telemetry, e.build)
	if err != nil {
		return err
	}
	a, err := New(e.ctx, cfg, e.build, time.Now)
	if err != nil {
		return err
	}
	slog.Info("starting", "role", role, "version", e.build)
	err = a.Run(e.ctx, role)
	limit, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 5*time.Second)
	defer cancel()
	return errors.Join(err, a.Close(), stop(limit))
}

// load reads the configuration; its problems are the whole message.
func (e *environment) load() (Config, error) {
	cfg, _, err := loadConfig(e.config, e.environ)
	if err != nil {
		return Config{}, fmt.Errorf("invalid configuration:\n%s", indent(err.Error()))
	}
	return cfg, nil
}
