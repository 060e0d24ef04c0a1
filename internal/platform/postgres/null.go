package postgres

// OrNull is a value for a nullable parameter: zero is null.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Texts are the values of a filter for a nullable parameter: none is null.
func Texts[T ~string](values []T) []string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// OrZero is the value of a nullable column: null is zero.
func OrZero[T any](v *T) T {
	if v == nil {
		var zero T
		return zero
	}
	return *v
}
