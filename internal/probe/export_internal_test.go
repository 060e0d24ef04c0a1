package probe

// What tests from outside look at.
var (
	Attacked  = attacked
	FromJudge = fromJudge
	Count     = (*Injection).count
)
