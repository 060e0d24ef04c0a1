package detect_test

import (
	"testing"

	"github.com/assayhq/assay/internal/agent/evidence/internal/detect"
)

func BenchmarkFingerprint(b *testing.B) {
	for b.Loop() {
		detect.Fingerprint("tool_timeout", "agent", "search", `no reply from "https://example.com/x" after 30 s at 2026-03-02T10:00:00Z (request 6f1e2a3b-0c4d-4e5f-8a9b-0c1d2e3f4a5b)`)
	}
}
