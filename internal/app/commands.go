package app

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assayhq/assay/internal/httpapi"
)

type configCommand struct{}

// Run prints the settings, and then what is wrong with them.
func (configCommand) Run(e *environment) error {
	_, settings, problem := loadConfig(e.config, e.environ)
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tFROM\tMEANING")
	for _, s := range settings {
		value := s.Value()
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Env, value, s.Source, s.Help)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if problem != nil {
		return fmt.Errorf("invalid configuration:\n%s", indent(problem.Error()))
	}
	return nil
}

type healthCommand struct {
	URL string `help:"Base URL of the process (default: the configured address on this machine)." placeholder:"URL"`
}

// Run succeeds if the process is ready.
func (c healthCommand) Run(e *environment) error {
	if c.URL == "" {
		cfg, err := e.load()
		if err != nil {
			return err
		}
		_, port, err := net.SplitHostPort(cfg.HTTP.Addr)
		if err != nil {
			return fmt.Errorf("ASSAY_HTTP_ADDR is %q: set it to host:port", cfg.HTTP.Addr)
		}
		c.URL = "http://" + net.JoinHostPort("127.0.0.1", port)
	}
	req, err := http.NewRequestWithContext(e.ctx, http.MethodGet, c.URL+"/api/health/ready", nil)
	if err != nil {
		return err
	}
	client := http.Client{Timeout: 5 * time.Second}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("no response from %s: %w", c.URL, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is not ready: GET /api/health/ready returned %s", c.URL, res.Status)
	}
	fmt.Fprintln(e.out, "ready")
	return nil
}

type openapiCommand struct{}

// Run prints the document.
func (openapiCommand) Run(e *environment) error {
	doc, err := Document()
	if err != nil {
		return err
	}
	_, err = e.out.Write(doc)
	return err
}

type versionCommand struct{}

// Run prints the version of the binary and of the interface.
func (versionCommand) Run(e *environment) error {
	fmt.Fprintf(e.out, "assay %s, API %s\n", e.build, httpapi.Version)
	return nil
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
