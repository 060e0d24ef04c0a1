package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/command/cli"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// inspect checks the settings of the server that this environment has: whether
// they can be read, whether the pepper is that of the database, and whether a
// target may be called.
func (e *environment) inspect(ctx context.Context, target string) []cli.Finding {
	if e.config == "" && !e.hasSettings() {
		skipped := []cli.Finding{{Check: "settings", State: cli.StateSkipped, Text: "the server's settings are not in this environment: run `assay doctor` where the server runs to check them and the pepper"}}
		if target != "" {
			skipped = append(skipped, cli.Finding{Check: "egress", State: cli.StateSkipped, Text: "whether the server may call the target is in its settings"})
		}
		return skipped
	}
	cfg, _, err := loadConfig(e.config, e.environ)
	if err != nil {
		return []cli.Finding{cli.FindingOf("settings", "", errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")))}
	}
	found := []cli.Finding{{Check: "settings", State: cli.StateOK, Text: "can be read; `assay config` lists them"}}
	found = append(found, cli.FindingOf("pepper", fmt.Sprintf("is pepper %d of the database", cfg.Key.PepperVersion), checkPepper(ctx, cfg)))
	if !cfg.Secret.Enabled() {
		found = append(found, cli.Finding{Check: "secrets", State: cli.StateSkipped, Text: "provider keys cannot be stored: set ASSAY_SECRET_MASTER_KEY to what `assay admin new-master-key` prints"})
	}
	if target != "" {
		found = append(found, cli.FindingOf("egress", "the server may call "+target, checkTarget(cfg, target)))
	}
	return found
}

// hasSettings reports whether the environment has settings of a server.
func (e *environment) hasSettings() bool {
	for _, kv := range e.environ {
		if strings.HasPrefix(kv, "ASSAY_POSTGRES_URL=") || strings.HasPrefix(kv, "ASSAY_KEY_PEPPER=") {
			return true
		}
	}
	return false
}

func checkPepper(ctx context.Context, cfg Config) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	db, err := postgres.Open(ctx, cfg.Postgres)
	if err != nil {
		return err
	}
	defer db.Close()
	return tenancy.New(tenancy.Parts{Stores: tenancy.Stores{Postgres: db}, Config: cfg.Key}).CheckPepper(ctx, false)
}

func checkTarget(cfg Config, target string) error {
	c, err := egress.New(cfg.Egress)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.CheckURL(target)
}
