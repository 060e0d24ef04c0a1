package postgres

// OrNull is a text for a nullable parameter: empty is null.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Texts are the values of a filter for a nullable parameter: none is null.
func Texts[T ~string](values []T) []string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
