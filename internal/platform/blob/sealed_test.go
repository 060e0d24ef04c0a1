package blob_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// random is the same bytes for the same seed.
func random(size int, seed uint64) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	content := make([]byte, size)
	_, _ = rand.NewChaCha8(key).Read(content)
	return content
}

// sealed is an object that tells by itself whether it is whole: its number, and
// bytes that follow from the number, up to 256 KiB of them.
func sealed(number uint64) []byte {
	head := binary.LittleEndian.AppendUint64(nil, number)
	return append(head, random(int(number*7919%(256<<10)), number)...)
}

// unseal returns the number of a whole object.
func unseal(content []byte) (uint64, bool) {
	if len(content) < 8 {
		return 0, false
	}
	number := binary.LittleEndian.Uint64(content)
	return number, bytes.Equal(content, sealed(number))
}
