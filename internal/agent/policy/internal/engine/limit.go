package engine

import "time"

// Limits of policies. Together with the limits of a question they bound what a decision
// costs, whatever a tenant writes.
const (
	MaxText       = 10 << 10  // bytes of a policy's text
	MaxStatements = 50        // statements of a policy
	MaxSetBytes   = 400 << 10 // bytes of a set: its texts, and what they apply to
	MaxSet        = 2000      // policies of a set
	MaxFacts      = 8         // facts of a policy
	MaxSetFacts   = 100       // different facts of a set: a question may ask for all of them

	maxNesting = 32 // brackets around an expression, and if inside if
	maxUnary   = 8  // signs in a row
	maxPath    = 32 // attributes in a row: `has a.b.c` grows with the square of its length

	minWindow  = time.Minute
	MaxWindow  = 30 * 24 * time.Hour
	maxExpires = 30 * 24 * time.Hour
	maxMin     = 5 // approvals that a statement may ask for

	// What a decision says: so many reasons and errors, and so many bytes of each error.
	maxTold    = 20
	maxMessage = 200
)

// Limits of a question.
const (
	maxBytes  = 256 << 10 // of its JSON
	maxDepth  = 32
	maxValues = 4096
	// maxPairs is how many pairs the elements of lists can make, those of lists inside others
	// with them. A set of Cedar finds its elements by a hash that whoever asks can make collide,
	// and then looks at one after the other.
	maxPairs = 1 << 22

	// maxCost is what an evaluation may cost at worst, in bytes compared: some hundredths
	// of a second. Only policies that compare long texts with long patterns, or whole
	// records with each other, by the hundred come near it, and questions in many forms to a
	// set of the greatest size.
	maxCost = 1 << 25
	// stepCost is what a part of an expression costs, whatever it does.
	stepCost = 64
	// pairCost is what it costs to compare an element of a set with one of another: to find it
	// takes longer than to compare its bytes.
	pairCost = 16
)
