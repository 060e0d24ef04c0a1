package postgres

import "fmt"

// Wrap says what was being done when a statement failed. There is nothing to say of nil.
func Wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Missing is Wrap for a query that wants one row: missing tells the caller that there is none.
func Missing(err error, doing string, missing error) error {
	if NoRows(err) {
		return missing
	}
	return Wrap(err, doing)
}

// Changed is Wrap for a statement that changes a row in the state that it names: refusal tells
// the caller that no row was in it.
func Changed(rows int64, err error, doing string, refusal error) error {
	if err == nil && rows == 0 {
		return refusal
	}
	return Wrap(err, doing)
}

// Optional is the answer of a query for one row that need not be there.
func Optional[R any](row R, err error, doing string) (found R, ok bool, failed error) {
	if NoRows(err) {
		return found, false, nil
	}
	return row, err == nil, Wrap(err, doing)
}

// One is the answer of a query for one row, as what it stands for.
func One[R, T any](row R, err error, doing string, missing error, from func(R) T) (T, error) {
	return DecodeOne(row, err, doing, missing, func(r R) (T, error) { return from(r), nil })
}

// DecodeOne is One for a row that may hold what cannot be read.
func DecodeOne[R, T any](row R, err error, doing string, missing error, from func(R) (T, error)) (T, error) {
	if err != nil {
		var none T
		return none, Missing(err, doing, missing)
	}
	return from(row)
}

// All is the answer of a query for many rows, as what they stand for.
func All[R, T any](rows []R, err error, doing string, from func(R) T) ([]T, error) {
	return DecodeAll(rows, err, doing, func(r R) (T, error) { return from(r), nil })
}

// DecodeAll is All for rows that may hold what cannot be read.
func DecodeAll[R, T any](rows []R, err error, doing string, from func(R) (T, error)) ([]T, error) {
	if err != nil {
		return nil, Wrap(err, doing)
	}
	out := make([]T, len(rows))
	for i, r := range rows {
		if out[i], err = from(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Listed is the answer of a query for a page of what is called so, as what its rows stand for, and how
// many entries all pages have, if that is to be counted.
func Listed[R, T any](rows []R, err error, what string, from func(R) T, counted bool, count func() (int64, error)) ([]T, int64, error) {
	return DecodeListed(rows, err, what, func(r R) (T, error) { return from(r), nil }, counted, count)
}

// DecodeListed is Listed for rows that may hold what cannot be read.
func DecodeListed[R, T any](rows []R, err error, what string, from func(R) (T, error), counted bool, count func() (int64, error)) ([]T, int64, error) {
	out, err := DecodeAll(rows, err, "list "+what, from)
	if err != nil || !counted {
		return out, 0, err
	}
	total, err := count()
	return out, total, Wrap(err, "count "+what)
}

// Page is a part of a list that is ordered by id, newest first.
type Page struct {
	Below         int64 // every entry has a lower id
	Limit, Offset int
	// Count asks for the number of entries on all pages.
	Count bool
}

// Rows are one more than the page shows: the one too many says that there is a next page.
func (p Page) Rows() int32 { return int32(p.Limit) + 1 }

// Skip are the rows before the page.
func (p Page) Skip() int32 { return int32(p.Offset) }
