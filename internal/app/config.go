package app

import (
	"fmt"
	"os"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/judging/rule"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/config"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/redis"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/platform/telemetry"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/tenancy/account"
	"github.com/assayhq/assay/internal/tenancy/erasure"
)

// Config is every setting of the process: each package's own.
type Config struct {
	HTTP       httpapi.Config     `setting:"http"`
	Admission  admission.Config   `setting:"admission"`
	Postgres   postgres.Config    `setting:"postgres"`
	ClickHouse clickhouse.Config  `setting:"clickhouse"`
	Temporal   temporal.Config    `setting:"temporal"`
	Redis      redis.Config       `setting:"redis"`
	Key        tenancy.Config     `setting:"key"`
	Plan       tenancy.PlanConfig `setting:"plan"`
	Pages      account.Config     `setting:"pages"`
	Secret     secret.Config      `setting:"secret"`
	Egress     egress.Config      `setting:"egress"`
	Blob       blob.Config        `setting:"blob"`
	Events     change.Config      `setting:"events"`
	Dataset    dataset.Config     `setting:"dataset"`
	Trace      trace.Config       `setting:"trace"`
	Rule       rule.Config        `setting:"rule"`
	Evaluation evaluation.Config  `setting:"evaluation"`
	Evidence   evidence.Config    `setting:"evidence"`
	Erasure    erasure.Config     `setting:"erasure"`
	Telemetry  telemetry.Config   `setting:"telemetry"`
}

// loadConfig reads the file, if one is named, and the environment.
func loadConfig(path string, environ []string) (Config, []config.Setting, error) {
	var file []byte
	if path != "" {
		var err error
		if file, err = os.ReadFile(path); err != nil {
			return Config{}, nil, fmt.Errorf("read configuration file: %w", err)
		}
	}
	var c Config
	settings, err := config.Load(&c, file, environ)
	return c, settings, err
}
