package client

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzProfiles(f *testing.F) {
	for _, text := range []string{`{"default":{"url":"http://a","key":"b"}}`, "{}", "null", "[]", "x", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := parseProfiles("file", text)
		require.Equal(t, err == nil, all != nil)
	})
}

const testKey = "asy_test_0123456789ab_0123456789abcdef0123456789abcdef_0a1b2c"

func TestProfiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environ := []string{"HOME=" + home}
	file := filepath.Join(home, ".config", "assay", "profiles.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o644))

	stored, err := StoreProfile(environ, "default", &Profile{URL: "https://one.example", Key: testKey})
	require.NoError(t, err)
	require.Equal(t, file, stored)
	_, err = StoreProfile(environ, "work", &Profile{URL: "https://two.example", Key: testKey + "d"})
	require.NoError(t, err)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "whoever could read it before no longer can")

	for name, c := range map[string]struct {
		environ   []string
		url       string
		base, key string
		problem   string
	}{
		"the default profile":                {nil, "", "https://one.example", testKey, ""},
		"another profile":                    {[]string{"ASSAY_PROFILE=work"}, "", "https://two.example", testKey + "d", ""},
		"the environment has a key":          {[]string{"SERVICE_API_KEY=other"}, "", DefaultURL, "other", ""},
		"the environment has two keys":       {[]string{"SERVICE_API_KEY=other", "ASSAY_API_KEY=this"}, "", DefaultURL, "this", ""},
		"the same address":                   {[]string{"ASSAY_URL=https://one.example/"}, "", "https://one.example", testKey, ""},
		"a key is not sent to other servers": {[]string{"ASSAY_URL=https://evil.example"}, "", "", "", "there is no API key for https://evil.example"},
		"nor by a flag":                      {nil, "https://evil.example", "", "", "there is no API key for https://evil.example"},
		"a profile that is not there":        {[]string{"ASSAY_PROFILE=none"}, "", "", "", `there is no profile "none"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := FromEnviron(c.url, append(environ, c.environ...))
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
				require.True(t, IsMistake(err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, []string{c.base, c.key}, []string{got.base, got.key})
		})
	}
}

func TestAFileThatCannotBeReadIsKept(t *testing.T) {
	t.Parallel()
	environ := []string{"XDG_CONFIG_HOME=" + t.TempDir()}
	file, err := ProfileFile(environ)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("not JSON"), 0o600))
	_, err = StoreProfile(environ, "default", &Profile{})
	require.ErrorContains(t, err, "cannot be read: remove it and run `assay login` again")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "not JSON", string(text))
}
