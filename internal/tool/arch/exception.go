package arch

// The exceptions of the laws knots, methods and functions are what was there when the laws
// came. They may only shrink: a test fails when one is larger than it has to be.

// knotted are the lines of knots that are too large.
var knotted = map[string]int{
	"internal/agent/evidence/internal/normal": 2531,
	"internal/agent/policy/internal/engine":   2790,
	"internal/evaluation":                     4835,
	"internal/httpapi":                        2168,
	"internal/review/adjudication":            2641,
	"internal/review/annotation":              2609,
	"internal/telemetry/span":                 3434,
}

// manyMethods are the methods of types that have too many.
var manyMethods = map[string]int{
	"internal/agent/evidence.Service":                    62,
	"internal/agent/evidence/internal/normal.normalizer": 48,
	"internal/agent/evidence/internal/timeline.graph":    41,
	"internal/agent/policy.Service":                      46,
	"internal/command/client.Client":                     50,
	"internal/command/terminal.Style":                    45,
	"internal/dataset.Service":                           53,
	"internal/evaluation.Service":                        106,
	"internal/httpapi.Edge":                              44,
	"internal/judging/judge.Service":                     65,
	"internal/review/adjudication.Service":               68,
	"internal/review/annotation.Service":                 89,
	"internal/review/annotation.store":                   48,
	"internal/telemetry/span.Record":                     73,
	"internal/telemetry/trace.Service":                   92,
	"internal/tenancy.Service":                           110,
	"internal/tenancy.store":                             49,
	"internal/test/prove/rig.System":                     50,
	"internal/test/testkit.Client":                       147,
}

// longFunctions are the lines of functions that are too long.
var longFunctions = map[string]int{
	"internal/review/labelfile.into": 84,
}
