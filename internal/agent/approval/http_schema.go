package approval

import "github.com/assayhq/assay/internal/httpapi"

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"ApprovalConstraints": constraintsBody{},
	"UpdateApproval":      updateBody{},
}
