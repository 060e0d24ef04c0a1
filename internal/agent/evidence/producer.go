package evidence

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/clean"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// says is what a producer says about itself.
func (p Producer) says(red *redact.Redactor) kind.Values {
	v := kind.Values{}
	for name, text := range map[string]string{"runtime_key": p.RuntimeKey, "name": p.Name, "agent_version": p.Version, "environment": p.Environment} {
		if text != "" {
			v[name] = kind.TextValue(clean.Text(red, text))
		}
	}
	return v
}

// producerReport is what a producer says that is not known of its runtime, or now and then that
// the runtime was heard of; nil if neither. The environment stays as it is.
func producerReport(said kind.Values, was Record, now time.Time) *report {
	v := maps.Clone(said)
	if was.Values.Text("environment") != "" {
		delete(v, "environment")
	}
	news := slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(name string) bool { return name != "runtime_key" && !bytes.Equal(v[name], was.Values[name]) })
	if !news && (was.ID == 0 || now.Sub(was.Values.Time("last_seen_at")) < heardEvery) {
		return nil
	}
	return newReport("runtimes", v, record.Ingested, Links{})
}
