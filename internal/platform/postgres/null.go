package postgres

// OrNull is a text for a nullable parameter: empty is null.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
