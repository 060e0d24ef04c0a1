package effect_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/effect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

func TestTheStrictestObligationSaysHowSoonAnEffectIsVerified(t *testing.T) {
	t.Parallel()
	sent := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	for obligations, within := range map[string]time.Duration{
		`[]`: 0,
		`[{"type":"log_full","ext":{"within_seconds":1}}]`: 0,
		`[{"type":"verify_side_effect","ext":{}}]`:         24 * time.Hour,
		`[{"type":"verify_side_effect","ext":{"within_seconds":3600}},{"type":"verify_side_effect","ext":{"within_seconds":60}}]`:     time.Minute,
		`[{"type":"verify_side_effect","ext":{"within_seconds":60}},{"type":"verify_side_effect","ext":{"within_seconds":3600}}]`:     time.Minute,
		`[{"type":"verify_side_effect","ext":{"within_seconds":100000}},{"type":"verify_side_effect","ext":{}}]`:                      24 * time.Hour,
		`[{"type":"verify_side_effect","ext":{}},{"type":"log_full"},{"type":"verify_side_effect","ext":{"within_seconds":3600}}]`:    time.Hour,
		`[{"type":"verify_side_effect","ext":{"within_seconds":9223372036854775807}},{"type":"verify_side_effect","ext":{"at":"x"}}]`: 24 * time.Hour,
		`[{"type":"verify_side_effect","ext":{"within_seconds":9223372036854775807}}]`:                                                30 * 24 * time.Hour,
	} {
		r := record.Record{Values: kind.Values{}}
		effect.Judge(&r, &record.Record{Values: kind.Values{"obligations": jsontext.Value(obligations)}}, sent)
		var want time.Time
		if within > 0 {
			want = sent.Add(within)
		}
		require.Equal(t, want, r.Values.Time("verify_by"), obligations)
	}
}
