package blob_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/blob"
)

// BenchmarkPut measures what durability costs: on disk a new object is two
// forced writes.
func BenchmarkPut(b *testing.B) {
	for name, config := range map[string]func(testing.TB) blob.Config{"disk": newFolder, "s3": newBucket} {
		for _, size := range []int{1 << 10, 1 << 20} {
			content := random(size, 1)
			b.Run(name+"/"+strconv.Itoa(size), func(b *testing.B) {
				s := open(b, config(b))
				b.SetBytes(int64(size))
				for i := 0; b.Loop(); i++ {
					require.NoError(b, s.Put(b.Context(), "bench/"+strconv.Itoa(i), content))
				}
			})
			b.Run(name+"/get/"+strconv.Itoa(size), func(b *testing.B) {
				s := open(b, config(b))
				require.NoError(b, s.Put(b.Context(), "bench", content))
				b.SetBytes(int64(size))
				for b.Loop() {
					_, err := s.Get(b.Context(), "bench")
					require.NoError(b, err)
				}
			})
		}
	}
}
