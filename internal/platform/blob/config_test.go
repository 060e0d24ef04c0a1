package blob_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/config"
)

func TestConfig(t *testing.T) {
	t.Parallel()

	for _, url := range []string{
		"file:///var/lib/assay/blobs",
		"file:///var/lib/with%20space",
		"s3://bucket?region=eu-central-1",
		"s3://bucket/?region=eu-central-1",
		"s3://my.bucket-1?region=us-east-1&endpoint=https://s3.example.com&use_path_style=true",
		"s3://bucket?region=us-east-1&endpoint=http%3A%2F%2F127.0.0.1%3A7070%2Fbase&use_path_style=false",
	} {
		require.NoError(t, blob.Config{URL: url}.Validate(), url)
	}

	for url, say := range map[string]string{
		"":                             "url is empty",
		"/var/lib/assay/blobs":         "unknown scheme",
		"gs://bucket":                  "unknown scheme",
		"s3:bucket?region=us-east-1":   "cannot be read",
		"file:relative":                "cannot be read",
		"s3://bucket?region=a#b":       "cannot be read",
		"s3://\x00":                    "cannot be read",
		"file://relative/folder":       "three slashes",
		"file://./folder":              "three slashes",
		"file:///":                     "names no folder",
		"file://":                      "names no folder",
		"file:///a/..":                 "names no folder",
		"file:///a?create_dir=true":    "parameters",
		"s3://bucket":                  "no region",
		"s3://?region=us-east-1":       "names no bucket",
		"s3://B?region=us-east-1":      "names no bucket",
		"s3://b_c_d?region=us-east-1":  "names no bucket",
		"s3://bucket:1?region=x":       "names no bucket",
		"s3://bucket/a?region=x":       "path after the bucket",
		"s3://bucket?region=x&a=b":     `unknown parameter "a": there are region, endpoint, use_path_style`,
		"s3://bucket?region=x&region=": "twice",
		"s3://bucket?region=x&a=%":     "parameters that cannot be read",
		"s3://bucket?region=x&endpoint=s3.example.com":             "endpoint=https://s3.example.com",
		"s3://bucket?region=x&endpoint=https://":                   "endpoint=https://s3.example.com",
		"s3://bucket?region=x&endpoint=https://a:b@s3.example.com": "endpoint=https://s3.example.com",
		"s3://bucket?region=x&use_path_style=maybe":                "neither true nor false",
		"s3://key:hush-hush@bucket?region=x":                       "AWS_ACCESS_KEY_ID",
	} {
		err := blob.Config{URL: url}.Validate()
		require.ErrorContains(t, err, say, url)
		require.Regexp(t, `^url `, err.Error(), "a problem begins with the setting's name")
		require.NotContains(t, err.Error(), "hush-hush")
		_, err = blob.Open(t.Context(), blob.Config{URL: url})
		require.ErrorContains(t, err, say, url)
	}

	t.Run("the default is a folder", func(t *testing.T) {
		t.Parallel()
		var all struct {
			Blob blob.Config `setting:"blob"`
		}
		settings, err := config.Load(&all, nil, nil)
		require.NoError(t, err)
		require.Equal(t, "file:///var/lib/assay/blobs", all.Blob.URL)
		require.Equal(t, "ASSAY_BLOB_URL", settings[0].Env)
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()

	t.Run("makes the folder, for its own user only", func(t *testing.T) {
		t.Parallel()
		folder := filepath.Join(t.TempDir(), "a", "b c")
		s := open(t, blob.Config{URL: "file://" + filepath.Dir(folder) + "/b%20c"})
		require.NoError(t, s.Ping(t.Context()))
		info, err := os.Stat(folder)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	})
	t.Run("says what to do about a folder that cannot be made", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		for _, folder := range []string{file, file + "/below"} {
			_, err := blob.Open(t.Context(), blob.Config{URL: "file://" + folder})
			require.ErrorContains(t, err, "change blob.url")
		}
	})
	t.Run("does not wait for a bucket", func(t *testing.T) {
		t.Parallel()
		s := open(t, bucketAt("http://127.0.0.1:1", "bucket"))
		require.ErrorIs(t, s.Ping(t.Context()), blob.ErrUnavailable)
	})
}
