package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// goldenSum pins the golden file. It never changes: the file stands for rows
// in databases that nobody can rewrite. A second format gets a second file.
const goldenSum = "524a64e5615bbc6637043cd02e4b4e6d9e2358fab4cbb8b4e0dfb3627b42d695"

type goldenFile struct {
	MasterKey Text `json:"master_key"`
	Cases     []struct {
		Org         string  `json:"org"`
		Credential  string  `json:"credential"`
		Provider    string  `json:"provider"`
		Destination string  `json:"destination"`
		DataKey     DataKey `json:"data_key"`
		Sealed      []byte  `json:"sealed"`
		Plaintext   string  `json:"plaintext"`
	} `json:"cases"`
}

func golden(t testing.TB) goldenFile {
	t.Helper()
	raw, err := os.ReadFile("testdata/format1.json")
	require.NoError(t, err)
	sum := sha256.Sum256(raw)
	require.Equal(t, goldenSum, hex.EncodeToString(sum[:]), "testdata/format1.json has been changed")
	var file goldenFile
	require.NoError(t, json.Unmarshal(raw, &file))
	return file
}

// goldenKeeper holds the published master key, which New refuses.
func goldenKeeper(t testing.TB) *Keeper {
	t.Helper()
	m, err := parseMaster(golden(t).MasterKey)
	require.NoError(t, err)
	return newKeeper([]master{m}, time.Now)
}

func TestFormat1OpensForEver(t *testing.T) {
	t.Parallel()
	k := goldenKeeper(t)
	file := golden(t)
	require.Len(t, file.Cases, 3)

	for _, c := range file.Cases {
		b := Binding{c.Org, c.Credential, c.Provider, c.Destination}
		got, err := k.Unseal(c.DataKey, c.Sealed, b)
		require.NoError(t, err)
		require.Equal(t, c.Plaintext, got.Reveal())
		id, err := c.DataKey.MasterKeyID()
		require.NoError(t, err)
		require.Equal(t, "e1e6cd9981d6", id)

		b.Destination = "https://evil.example:443"
		_, err = k.Unseal(c.DataKey, c.Sealed, b)
		require.ErrorIs(t, err, ErrRefused)
	}
}
