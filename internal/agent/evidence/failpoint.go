package evidence

import "github.com/assayhq/assay/internal/platform/failpoint"

// BeforeEvents is a place between what events say, which is stored by then, and the
// events themselves, which are not.
const BeforeEvents failpoint.Point = "evidence_before_events"
