package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/assayhq/assay/internal/core/fault"
)

// Place is where a page ends. A list is ordered by At, an id or a time in
// microseconds since 1970, and entries with the same At by Tie, whose size is
// fixed.
type Place[T any] struct {
	At  int64
	Tie T
}

// maxAt is the last microsecond of the year 9999, which every database can
// compare with.
const maxAt = 253_402_300_799_999_999

// Cursor writes and reads the cursors of one list, whose name it is. A cursor
// ends with a checksum of its place and that name: neither a damaged cursor nor
// one of another list is read as a place of this one.
type Cursor[T any] string

// Text is the cursor of a place.
func (list Cursor[T]) Text(p Place[T]) string {
	place, err := binary.Append(nil, binary.BigEndian, p)
	if err != nil {
		panic(fmt.Sprintf("httpapi: a place of %s has no fixed size: %v", string(list), err))
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(place, list.checksum(place)))
}

// Place reads a cursor. Without one it is the zero place.
func (list Cursor[T]) Place(text string) (p Place[T], err error) {
	if text == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	size := binary.Size(p)
	if err != nil || len(raw) != size+crc32.Size || binary.BigEndian.Uint32(raw[size:]) != list.checksum(raw[:size]) {
		return p, errCursor
	}
	if _, err := binary.Decode(raw[:size], binary.BigEndian, &p); err != nil || p.At < 1 || p.At > maxAt || list.Text(p) != text {
		return Place[T]{}, errCursor
	}
	return p, nil
}

func (list Cursor[T]) checksum(place []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(list)), crc32.IEEETable, place)
}

var errCursor = fault.Invalid("query", "cursor", "format", "is not a cursor that this list returned")

// IDCursor writes and reads the cursors of a list that is ordered by its ids,
// newest first.
type IDCursor string

// Text is the cursor of the page below an id.
func (list IDCursor) Text(id int64) string {
	return Cursor[struct{}](list).Text(Place[struct{}]{At: id})
}

// Below reads a cursor. Without one every id is below the result.
func (list IDCursor) Below(text string) (int64, error) {
	if text == "" {
		return math.MaxInt64, nil
	}
	p, err := Cursor[struct{}](list).Place(text)
	return p.At, err
}
