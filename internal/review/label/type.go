package label

// Type says what a task asks for.
type Type string

// The types of tasks.
const (
	Rating         Type = "rating"
	Classification Type = "classification"
	MultiLabel     Type = "multi_label"
	Pairwise       Type = "pairwise"
	Ranking        Type = "ranking"
	FreeText       Type = "free_text"
	Correction     Type = "correction"
)

// Incomparable says why answers to a type of task are not compared; empty if they are.
func (t Type) Incomparable() string {
	switch t {
	case MultiLabel, Ranking:
		return "answers that have several labels have no single value to compare"
	case FreeText, Correction:
		return "texts are not compared, since two people never write the same"
	case Rating, Classification, Pairwise:
	}
	return ""
}
